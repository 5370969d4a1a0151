import Type from 'typebox'
import { businessChains } from '#chains/business-chains'
import type { Ctx } from '#engines/ctx'
import { endpoint } from '#runtime/http/endpoint'
import { listStablecoins } from './list-stablecoins.ts'

export const stablecoinEndpoints = [
  endpoint({
    method: 'GET',
    path: '/v1/stablecoins',
    operationId: 'listStablecoins',
    summary: 'List the stablecoins, and how much of each there is on the chains of this server',
    tag: 'Stablecoins',
    auth: 'none',
    response: Type.Array(
      Type.Object({
        name: Type.String(),
        symbol: Type.Enum(['USDC', 'EURC']),
        totalAmount: Type.String({ format: 'decimal' }),
        chains: Type.Array(
          Type.Object({
            amount: Type.String({ format: 'decimal' }),
            chain: Type.Enum(businessChains),
            updateDate: Type.String({ format: 'date-time' }),
          }),
        ),
      }),
    ),
    errors: [],
    verb: (ctx: Ctx) => listStablecoins(ctx),
  }),
]
