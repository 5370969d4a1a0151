import Type from 'typebox'
import { businessChains } from '#chains/business-chains'

const statuses = ['pending', 'confirmed', 'paid', 'failed', 'action_required'] as const

const moneySchema = Type.Object({
  amount: Type.String({ format: 'decimal', examples: ['2.00'] }),
  currency: Type.Enum(['USD', 'EUR'], { description: 'USD is USDC, EUR is EURC.' }),
})

export const paymentSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  type: Type.Enum(['payment', 'refund']),
  status: Type.Enum([...statuses], { description: 'pending, then confirmed and paid; or failed.' }),
  amount: moneySchema,
  merchantId: Type.String({ format: 'uuid' }),
  merchantWalletId: Type.String(),
  paymentIntentId: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Absent when the money came too late or in another currency: it is credited all the same.',
    }),
  ),
  settlementAmount: Type.Optional(moneySchema),
  fromAddresses: Type.Object({
    chain: Type.Enum([...businessChains]),
    addresses: Type.Array(Type.String()),
  }),
  depositAddress: Type.Object({ chain: Type.Enum([...businessChains]), address: Type.String() }),
  transactionHash: Type.String(),
  createDate: Type.String({ format: 'date-time' }),
  updateDate: Type.String({ format: 'date-time' }),
})

export const paymentParams = Type.Object({ id: Type.String({ format: 'uuid' }) })

const cardEra = (what: string) => `${what} Payments have none any more: nothing matches.`

export const paymentFilters = Type.Object({
  paymentIntentId: Type.Optional(Type.String({ format: 'uuid' })),
  status: Type.Optional(Type.Enum([...statuses])),
  source: Type.Optional(Type.String({ format: 'uuid', description: cardEra('The payment source.') })),
  settlementId: Type.Optional(Type.String({ format: 'uuid', description: cardEra('The settlement.') })),
  type: Type.Optional(
    Type.Unsafe<unknown>({
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
      description: 'The kind of source, from the time of card payments. Accepted and ignored.',
    }),
  ),
})
