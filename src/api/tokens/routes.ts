import Type from 'typebox'
import { showToken, tokenShape } from '#api/sources/token-shape'
import type { Ctx } from '#engines/ctx'
import { tokenById } from '#engines/ledger/tokens/index'
import { invalid } from '#lib/errors'
import { endpoint } from '#runtime/http/endpoint'
import { idParams } from '#runtime/http/openapi/annotate'

export const tokenEndpoints = [
  endpoint({
    method: 'GET',
    path: '/v1/w3s/tokens/{id}',
    operationId: 'getToken',
    summary: 'Get a token',
    description: 'Returns a coin or token that the server knows.',
    tag: 'Tokens',
    auth: 'apiKey',
    params: idParams('TokenId', 'the token'),
    response: Type.Object({ token: tokenShape }, { description: 'The token.' }),
    errors: ['idNotUuid', 'tokenNotFound'],
    verb: async (ctx: Ctx, { params }) => {
      const token = await tokenById(ctx.db, params.id)
      if (!token)
        throw invalid({
          at: 'id',
          reason: 'is not a token of this server',
          value: params.id,
          kind: 'tokenNotFound',
        })
      return { token: showToken(token) }
    },
  }),
]
