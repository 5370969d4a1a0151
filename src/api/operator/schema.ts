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
    Type.Object({
      url: Type.String({ description: 'The host alone: the rest may be a key.' }),
      p50Ms: optional(
        Type.Number({
          description:
            'The time of the middle one of the latest calls that this process made; absent before the first answer.',
        }),
      ),
      p95Ms: optional(Type.Number({ description: 'The time in which 95 of 100 of them were answered.' })),
      errorShare: Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'The share of calls that failed, recent ones counting most.',
      }),
    }),
  ),
  baseFee: optional(
    Type.String({
      description: 'In gwei, for each unit of gas in the next block; absent while no node tells.',
    }),
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

export const accountParams = Type.Object({ id: Type.String({ format: 'uuid' }) })

export const entrySchema = Type.Object({
  postingId: Type.String({ format: 'uuid', description: 'Names the entry in page cursors, too.' }),
  fact: Type.String({ description: 'What happened, unique within its block.' }),
  amount: Type.String({ description: 'What it added to the account; below zero for what it took away.' }),
  blockHash: optional(Type.String({ description: 'Absent for what no block made, such as an adjustment.' })),
  reversesId: optional(
    Type.String({
      format: 'uuid',
      description: 'The posting that this one takes back, since its block was orphaned.',
    }),
  ),
  createDate: Type.String({ format: 'date-time' }),
})
