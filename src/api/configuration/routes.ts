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
    summary: 'See whether the server answers',
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
    tag,
    auth: 'apiKey',
    response: configurationSchema,
    errors: ['unauthorized'],
    verb: async (ctx: Ctx) => ({ payments: { masterWalletId: merchantWalletIdOf(ctx.entity.id) } }),
  }),
]
