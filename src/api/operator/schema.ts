import Type from 'typebox'
import { accountKinds } from '#engines/ledger/index'
import { chainStates } from './list-chains.ts'

const optional = Type.Optional

export const chainSchema = Type.Object({
  blockchain: Type.String(),
  chainId: Type.Integer(),
  headNumber: optional(
    Type.Integer({ description: 'The newest block of the node; absent while it does not answer.' }),
  ),
  headDate: optional(Type.String({ format: 'date-time' })),
  indexedNumber: optional(Type.Integer({ description: 'The newest block that is booked.' })),
  finalNumber: optional(Type.Integer({ description: 'The newest block that is final.' })),
  lagBlocks: optional(Type.Integer()),
  lagMs: optional(
    Type.Integer({ description: 'How much older the newest booked block is than that of the node.' }),
  ),
  rpc: Type.Array(
    Type.Object({ url: Type.String({ description: 'The host alone: the rest may be a key.' }) }),
  ),
  state: Type.Enum([...chainStates]),
})

export const readinessSchema = Type.Object({
  ready: Type.Boolean({ description: 'Whether all parts are ready. The status is 503 while one is not.' }),
  database: Type.Enum(['ready', 'unavailable']),
  clock: Type.Enum(['ready', 'off']),
  engines: Type.Enum(['running', 'stopped', 'unknown'], {
    description: 'Whether a worker follows every chain; unknown while the database is unavailable.',
  }),
  chains: Type.Array(
    Type.Object({
      blockchain: Type.String(),
      state: Type.Enum([...chainStates], {
        description: 'Behind from a lag of a minute; GET /operator/chains has the figures.',
      }),
    }),
  ),
})

export const accountFilters = Type.Object({
  kind: optional(Type.Enum([...accountKinds])),
  blockchain: optional(Type.String()),
  address: optional(Type.String({ description: 'As it is stored: EVM addresses in lower case.' })),
  tokenId: optional(Type.String({ format: 'uuid' })),
})

export const accountSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  kind: Type.Enum([...accountKinds]),
  tokenId: optional(Type.String({ format: 'uuid' })),
  currency: optional(Type.String()),
  blockchain: optional(Type.String()),
  address: optional(Type.String()),
  posted: Type.String({ description: 'What is booked; below zero for accounts that money comes from.' }),
  held: Type.String({ description: 'What of it is reserved to leave.' }),
  available: Type.String(),
  createDate: Type.String({ format: 'date-time' }),
})
