import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { getAccount, listAccounts, listEntries } from './read-accounts.ts'
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
    summary: 'Check that the server is ready',
    description:
      'Reports whether the database, the clock, the engines and the chains are ready. Needs no key, and so names no host, block or error.',
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
    summary: 'Get metrics',
    description: 'Returns the metrics of this process for Prometheus.',
    tag,
    auth: 'operator:read',
    response: Type.String({ description: 'The metrics in the text format of Prometheus.' }),
    enveloped: false,
    media: 'text/plain; version=0.0.4; charset=utf-8',
    errors: [],
    verb: (ctx: Ctx) => showMetrics(ctx),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/chains',
    operationId: 'listOperatorChains',
    summary: 'List chains',
    description:
      'Lists the chains of this server, how far each is followed, and the health of its endpoints in this process.',
    tag,
    auth: 'operator:read',
    response: Type.Array(chainSchema, { description: 'The chains.' }),
    errors: [],
    verb: (ctx: Ctx) => showChains(ctx),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/accounts',
    operationId: 'listOperatorAccounts',
    summary: 'List accounts',
    description: 'Lists the accounts of the books of the entity, newest first.',
    tag,
    auth: 'operator:read',
    query: accountFilters,
    response: Type.Array(accountSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, { query, page }) => listAccounts(ctx, query, page),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/accounts/{id}',
    operationId: 'getOperatorAccount',
    summary: 'Get an account',
    description: 'Returns an account of the books of the entity.',
    tag,
    auth: 'operator:read',
    params: accountParams,
    response: accountSchema,
    errors: ['accountNotFound'],
    verb: (ctx: Ctx, { params }) => getAccount(ctx, params.id),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/accounts/{id}/entries',
    operationId: 'listOperatorEntries',
    summary: 'List the entries of an account',
    description: 'Lists the changes of an account, newest first.',
    tag,
    auth: 'operator:read',
    params: accountParams,
    response: Type.Array(entrySchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: ['accountNotFound'],
    verb: (ctx: Ctx, { params, page }) => listEntries(ctx, params.id, page),
  }),
]
