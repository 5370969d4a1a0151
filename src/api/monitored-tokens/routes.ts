import Type from 'typebox'
import { showToken, tokenShape } from '#api/token-shape'
import type { Ctx } from '#engines/ctx'
import { walletCollection } from '#runtime/collection/query'
import { answer, endpoint } from '#runtime/http/endpoint'
import {
  createMonitoredTokens,
  deleteMonitoredTokens,
  updateMonitoredTokens,
  updateMonitorScope,
} from './change-monitored-tokens.ts'
import { findMonitorScope, listMonitored } from './store.ts'

const tag = 'Monitored tokens'
const path = '/v1/w3s/config/entity/monitoredTokens'
const scopeField = Type.Enum(['SELECTED', 'MONITOR_ALL'])
const tokenIds = (minItems: number) =>
  Type.Array(Type.String({ format: 'uuid' }), { minItems, maxItems: 200, uniqueItems: true })
const monitoredAnswer = Type.Object({ scope: scopeField, tokens: Type.Array(tokenShape) })
const errors = ['invalidRequest', 'unauthorized', 'tokenNotFound'] as const

export const monitoredTokenEndpoints = [
  endpoint({
    method: 'POST',
    path,
    operationId: 'createMonitoredTokens',
    summary: 'Monitor further tokens',
    tag,
    auth: 'apiKey',
    body: Type.Object({ tokenIds: tokenIds(1) }),
    response: monitoredAnswer,
    status: 201,
    errors,
    verb: (ctx: Ctx, { body }) => createMonitoredTokens(ctx, body.tokenIds),
  }),
  endpoint({
    method: 'GET',
    path,
    operationId: 'listMonitoredTokens',
    summary: 'List the monitored tokens; no content before any were chosen',
    tag,
    auth: 'apiKey',
    query: Type.Object({
      blockchain: Type.Optional(Type.String()),
      tokenAddress: Type.Optional(Type.String()),
      symbol: Type.Optional(Type.String()),
    }),
    response: monitoredAnswer,
    collection: { ...walletCollection, items: 'tokens' },
    errors: ['invalidRequest', 'unauthorized', 'cursorNotFound', 'cursorNotUuid'],
    verb: async (ctx: Ctx, { query, page }) => {
      const scope = await findMonitorScope(ctx.db, ctx.entity.id)
      if (!scope) return answer(204, undefined)
      const found = await listMonitored(ctx.db, ctx.entity.id, query, page)
      return { found, items: found.rows.map(showToken), extra: { scope } }
    },
  }),
  endpoint({
    method: 'PUT',
    path,
    operationId: 'updateMonitoredTokens',
    summary: 'Replace the monitored tokens',
    tag,
    auth: 'apiKey',
    body: Type.Object({ tokenIds: tokenIds(0) }),
    response: monitoredAnswer,
    errors,
    verb: (ctx: Ctx, { body }) => updateMonitoredTokens(ctx, body.tokenIds),
  }),
  endpoint({
    method: 'POST',
    path: `${path}/delete`,
    operationId: 'deleteMonitoredTokens',
    summary: 'Stop monitoring tokens',
    tag,
    auth: 'apiKey',
    body: Type.Object({ tokenIds: tokenIds(1) }),
    errors,
    verb: (ctx: Ctx, { body }) => deleteMonitoredTokens(ctx, body.tokenIds),
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/scope`,
    operationId: 'updateMonitoredTokensScope',
    summary: 'Choose between the monitored tokens and all',
    tag,
    auth: 'apiKey',
    body: Type.Object({ scope: scopeField }),
    errors: ['invalidRequest', 'unauthorized'],
    verb: (ctx: Ctx, { body }) => updateMonitorScope(ctx, body.scope),
  }),
]
