import type { Ctx } from '#engines/ctx'
import { merchantWalletIdOf } from '#engines/treasury/index'
import { endpoint } from '#runtime/http/endpoint'
import { configurationSchema, pongSchema } from './schema.ts'

const tag = 'Configuration'

export const configurationEndpoints = [
  endpoint({
    method: 'GET',
    path: '/ping',
    operationId: 'ping',
    summary: 'Check that the server answers',
    description: 'Returns `pong` without looking at the database or the chains. Needs no key.',
    tag,
    auth: 'none',
    response: pongSchema,
    enveloped: false,
    errors: [],
    verb: async () => ({ message: 'pong' }),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/configuration',
    operationId: 'getConfiguration',
    summary: 'Get the configuration of the business account',
    description:
      'Returns the id of the main wallet, which payments are credited to and payouts are paid from.',
    tag,
    auth: 'apiKey',
    response: configurationSchema,
    errors: [],
    verb: async (ctx: Ctx) => ({ payments: { masterWalletId: merchantWalletIdOf(ctx.entity.id) } }),
  }),
]
