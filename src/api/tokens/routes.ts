import Type from 'typebox'
import { showToken, tokenShape } from '#api/token-shape'
import type { Ctx } from '#engines/ctx'
import { tokenById } from '#engines/ledger/index'
import { invalid } from '#lib/errors'
import { endpoint } from '#runtime/http/endpoint'

export const tokenEndpoints = [
  endpoint({
    method: 'GET',
    path: '/v1/w3s/tokens/{id}',
    operationId: 'getToken',
    summary: 'Get a token',
    tag: 'Tokens',
    auth: 'apiKey',
    params: Type.Object({ id: Type.String({ format: 'uuid' }) }),
    response: Type.Object({ token: tokenShape }),
    errors: ['unauthorized', 'idNotUuid', 'tokenNotFound'],
    verb: async (ctx: Ctx, { params }) => {
      const token = await tokenById(ctx.db, params.id)
      if (!token) throw invalid('id', 'is not a token of this server', params.id, 'tokenNotFound')
      return { token: showToken(token) }
    },
  }),
]
