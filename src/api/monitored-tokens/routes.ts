import Type from 'typebox'
import { showToken, tokenShape } from '#api/sources/token-shape'
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
const scopeField = Type.Enum(['SELECTED', 'MONITOR_ALL'], {
  title: 'MonitorScope',
  description: 'Whether lists show the monitored tokens only, or all tokens.',
})
const tokenIds = (minItems: number) =>
  Type.Array(Type.String({ format: 'uuid' }), {
    minItems,
    maxItems: 200,
    uniqueItems: true,
    description: 'The ids of the tokens.',
  })
const someTokens = Type.Object(
  { tokenIds: tokenIds(1) },
  { title: 'TokensRequest', description: 'One token or more.' },
)
const monitoredAnswer = Type.Object(
  { scope: scopeField, tokens: Type.Array(tokenShape, { description: 'The tokens.' }) },
  {
    title: 'MonitoredTokens',
    description: 'The monitored tokens, and whether they are the only ones shown.',
  },
)
const errors = ['tokenNotFound'] as const

export const monitoredTokenEndpoints = [
  endpoint({
    method: 'POST',
    path,
    operationId: 'createMonitoredTokens',
    summary: 'Add monitored tokens',
    description:
      'Adds tokens to the monitored ones, and sets the scope to SELECTED: lists show no other tokens from then on.',
    tag,
    auth: 'apiKey',
    body: someTokens,
    response: monitoredAnswer,
    status: 201,
    alternatives: { 200: 'All tokens were monitored already.' },
    errors,
    verb: (ctx: Ctx, { body }) => createMonitoredTokens(ctx, body.tokenIds),
  }),
  endpoint({
    method: 'GET',
    path,
    operationId: 'listMonitoredTokens',
    summary: 'List the monitored tokens',
    description: 'Lists the monitored tokens and the scope.',
    tag,
    auth: 'apiKey',
    query: Type.Object({
      blockchain: Type.Optional(Type.String({ description: 'The blockchain of the tokens.' })),
      tokenAddress: Type.Optional(Type.String({ description: 'The contract of the token.' })),
      symbol: Type.Optional(Type.String({ description: 'The symbol of the tokens.' })),
    }),
    response: monitoredAnswer,
    alternatives: { 204: 'No monitored tokens were ever chosen.' },
    collection: { ...walletCollection, items: 'tokens' },
    errors: [],
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
    description: 'Replaces all monitored tokens, and sets the scope to SELECTED.',
    tag,
    auth: 'apiKey',
    body: Type.Object(
      { tokenIds: tokenIds(0) },
      { title: 'UpdateMonitoredTokensRequest', description: 'All tokens to monitor.' },
    ),
    response: monitoredAnswer,
    errors,
    verb: (ctx: Ctx, { body }) => updateMonitoredTokens(ctx, body.tokenIds),
  }),
  endpoint({
    method: 'POST',
    path: `${path}/delete`,
    operationId: 'deleteMonitoredTokens',
    summary: 'Delete monitored tokens',
    description: 'Removes tokens from the monitored ones.',
    tag,
    auth: 'apiKey',
    body: someTokens,
    errors,
    verb: (ctx: Ctx, { body }) => deleteMonitoredTokens(ctx, body.tokenIds),
  }),
  endpoint({
    method: 'PUT',
    path: `${path}/scope`,
    operationId: 'updateMonitoredTokensScope',
    summary: 'Change the scope of monitored tokens',
    description:
      'Chooses whether lists show the monitored tokens only, or all. MONITOR_ALL keeps the monitored tokens for later.',
    tag,
    auth: 'apiKey',
    body: Type.Object(
      { scope: scopeField },
      { title: 'UpdateMonitoredTokensScopeRequest', description: 'The new scope.' },
    ),
    errors: [],
    verb: (ctx: Ctx, { body }) => updateMonitorScope(ctx, body.scope),
  }),
]
