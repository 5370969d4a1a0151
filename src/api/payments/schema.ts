import Type from 'typebox'
import { moneySchema } from '#api/money'
import { businessChains } from '#chains/business-chains'

const statuses = ['pending', 'confirmed', 'paid', 'failed', 'action_required'] as const

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
  fromAddresses: Type.Optional(
    Type.Object(
      { chain: Type.Enum([...businessChains]), addresses: Type.Array(Type.String()) },
      { description: 'Absent on refunds.' },
    ),
  ),
  depositAddress: Type.Object(
    { chain: Type.Enum([...businessChains]), address: Type.String() },
    { description: 'Where the money arrived; of a refund, where it goes.' },
  ),
  transactionHash: Type.Optional(Type.String({ description: 'Absent while a refund is not signed.' })),
  createDate: Type.String({ format: 'date-time' }),
  updateDate: Type.String({ format: 'date-time' }),
})

export const refundSchema = Type.Object(
  {
    destination: Type.Object({
      address: Type.String({ description: 'Who gets the money back.' }),
      chain: Type.Enum([...businessChains]),
      addressTag: Type.Optional(Type.Union([Type.String({ maxLength: 256 }), Type.Null()])),
    }),
    amount: Type.Object(
      { currency: Type.String() },
      { description: 'The currency that the refund is paid from.' },
    ),
    toAmount: Type.Object(
      { amount: Type.String({ examples: ['2.00'] }), currency: Type.String() },
      { description: 'What goes back, in the currency that was paid.' },
    ),
  },
  {
    examples: [
      {
        destination: { address: '0x00000000000000000000000000000000000a11ce', chain: 'BASE' },
        amount: { currency: 'USD' },
        toAmount: { amount: '2.00', currency: 'USD' },
      },
    ],
  },
)

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
