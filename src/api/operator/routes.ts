import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { listAccounts } from './list-accounts.ts'
import { listEntries } from './list-entries.ts'
import {
  accountFilters,
  accountParams,
  accountSchema,
  chainSchema,
  entrySchema,
  readinessSchema,
} from './schema.ts'
import { showChains } from './show-chains.ts'
import { showMetrics } from './show-metrics.ts'
import { showReadiness } from './show-readiness.ts'

const tag = 'Operator'

/** Operations for operators. All but readiness need a key with the scope `operator:read`. */
export const operatorEndpoints = [
  endpoint({
    method: 'GET',
    path: '/ready',
    operationId: 'getReadiness',
    summary: 'See whether the database, the chains and the engines are ready',
    tag,
    auth: 'none',
    response: readinessSchema,
    troubleStatus: 503,
    enveloped: false,
    errors: [],
    verb: (ctx: Ctx) => showReadiness(ctx),
  }),
  endpoint({
    method: 'GET',
    path: '/metrics',
    operationId: 'getMetrics',
    summary: 'Get the metrics of this process for Prometheus',
    tag,
    auth: 'operator:read',
    response: Type.String(),
    enveloped: false,
    media: 'text/plain; version=0.0.4; charset=utf-8',
    errors: ['unauthorized', 'forbidden'],
    verb: (ctx: Ctx) => showMetrics(ctx),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/chains',
    operationId: 'listOperatorChains',
    summary: 'List the chains of this server, how far each is followed, and how its endpoints do',
    tag,
    auth: 'operator:read',
    response: Type.Array(chainSchema),
    errors: ['unauthorized', 'forbidden'],
    verb: (ctx: Ctx) => showChains(ctx),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/accounts',
    operationId: 'listOperatorAccounts',
    summary: 'List the accounts of the books',
    tag,
    auth: 'operator:read',
    query: accountFilters,
    response: Type.Array(accountSchema),
    collection: businessCollection,
    errors: ['invalidRequest', 'cursorNotFound', 'cursorNotUuid', 'unauthorized', 'forbidden'],
    verb: (ctx: Ctx, { query, page }) => listAccounts(ctx, query, page),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/accounts/{id}/entries',
    operationId: 'listOperatorEntries',
    summary: 'List what was booked to an account',
    tag,
    auth: 'operator:read',
    params: accountParams,
    response: Type.Array(entrySchema),
    collection: businessCollection,
    errors: [
      'accountNotFound',
      'invalidRequest',
      'cursorNotFound',
      'cursorNotUuid',
      'unauthorized',
      'forbidden',
    ],
    verb: (ctx: Ctx, { params, page }) => listEntries(ctx, params.id, page),
  }),
]
