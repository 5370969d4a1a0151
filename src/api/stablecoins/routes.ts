import Type from 'typebox'
import { businessChainField, dateField } from '#api/fields'
import type { Ctx } from '#engines/ctx'
import { endpoint } from '#runtime/http/endpoint'
import { described } from '#runtime/http/openapi/annotate'
import { listStablecoins } from './list-stablecoins.ts'

const supplySchema = Type.Object(
  {
    amount: Type.String({ format: 'decimal', description: 'The supply on the chain.' }),
    chain: described(businessChainField, 'The chain.'),
    updateDate: dateField('The time of the reading, at most a minute ago.'),
  },
  { description: 'The supply on one chain.' },
)

const stablecoinSchema = Type.Object(
  {
    name: Type.String({ description: 'The name of the token.' }),
    symbol: Type.Enum(['USDC', 'EURC'], { description: 'The symbol of the token.' }),
    totalAmount: Type.String({ format: 'decimal', description: 'The supply on the chains of this server.' }),
    chains: Type.Array(supplySchema, {
      description: 'The supply on each chain; a chain whose node does not answer is absent.',
    }),
  },
  { title: 'Stablecoin', description: 'A stablecoin and its supply.' },
)

export const stablecoinEndpoints = [
  endpoint({
    method: 'GET',
    path: '/v1/stablecoins',
    operationId: 'listStablecoins',
    summary: 'List stablecoins',
    description: 'Lists the stablecoins and their supply on the chains of this server. Needs no key.',
    tag: 'Stablecoins',
    auth: 'none',
    response: Type.Array(stablecoinSchema, { description: 'The stablecoins.' }),
    errors: [],
    verb: (ctx: Ctx) => listStablecoins(ctx),
  }),
]
