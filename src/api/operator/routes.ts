import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { listAccounts } from './list-accounts.ts'
import { listChains } from './list-chains.ts'
import { accountFilters, accountSchema, chainSchema, readinessSchema } from './schema.ts'
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
    summary: 'List the chains of this server, and how far each is followed',
    tag,
    auth: 'operator:read',
    response: Type.Array(chainSchema),
    errors: ['unauthorized', 'forbidden'],
    verb: (ctx: Ctx) => listChains(ctx),
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
]
