import Type from 'typebox'
import { businessChains } from '#chains/business-chains'

const currencies = ['USD', 'EUR', 'BTC', 'ETH']

export const moneySchema = Type.Object(
  {
    amount: Type.String({ format: 'decimal', examples: ['2.00'] }),
    currency: Type.Enum(currencies, { description: 'USD is USDC, EUR is EURC.' }),
  },
  { description: 'An amount in whole units of its currency, as a decimal string.' },
)

export const newPaymentIntentSchema = Type.Object(
  {
    type: Type.Optional(
      Type.Enum(['continuous', 'transient'], {
        description: 'Default: transient when amount.amount is given, continuous otherwise.',
      }),
    ),
    amount: Type.Optional(
      Type.Object(
        {
          amount: Type.Optional(Type.String({ description: 'Above zero.', examples: ['2.00'] })),
          currency: Type.Optional(Type.Enum(currencies)),
        },
        { description: 'What a transient intent asks for.' },
      ),
    ),
    currency: Type.Optional(Type.Enum(currencies, { description: 'What a continuous intent takes.' })),
    settlementCurrency: Type.Enum(currencies, { description: 'The same as the currency that is paid.' }),
    paymentMethods: Type.Array(
      Type.Object({
        type: Type.Enum(['blockchain']),
        chain: Type.Enum([...businessChains], {
          description: "Names the network of the key's environment: with a TEST key, BASE is BASE-SEPOLIA.",
        }),
      }),
      { minItems: 1, maxItems: 1 },
    ),
    merchantWalletId: Type.Optional(
      Type.String({ maxLength: 36, description: 'Default: the masterWalletId of GET /v1/configuration.' }),
    ),
    expiresOn: Type.Optional(
      Type.String({
        description:
          'RFC 3339, in the future; for transient intents. Default: 8 hours from now. Empty means absent.',
      }),
    ),
  },
  {
    examples: [
      {
        type: 'continuous',
        currency: 'USD',
        settlementCurrency: 'USD',
        paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
      },
    ],
  },
)

const statuses = ['created', 'pending', 'active', 'complete', 'expired', 'failed', 'refunded'] as const
const contexts = ['underpaid', 'paid', 'overpaid'] as const

const timelineEntry = Type.Object({
  status: Type.Enum([...statuses]),
  time: Type.String({ format: 'date-time' }),
  context: Type.Optional(Type.Enum([...contexts])),
  reason: Type.Optional(Type.Enum(['requested_by_merchant', 'fee_collection_failed'])),
})

export const paymentIntentSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  type: Type.Optional(Type.Enum(['continuous'], { description: 'Absent on transient intents.' })),
  amount: Type.Optional(moneySchema),
  currency: Type.Optional(Type.Enum(currencies)),
  amountPaid: moneySchema,
  amountRefunded: moneySchema,
  settlementCurrency: Type.Enum(currencies),
  paymentMethods: Type.Array(
    Type.Object({
      type: Type.Enum(['blockchain']),
      chain: Type.Enum([...businessChains]),
      address: Type.Optional(Type.String({ description: 'Where to pay. Lower case.' })),
    }),
  ),
  fees: Type.Optional(
    Type.Array(
      Type.Object({
        type: Type.Enum(['blockchainLeaseFee', 'totalPaymentFees']),
        amount: Type.String({ format: 'decimal' }),
        currency: Type.Enum(currencies),
      }),
    ),
  ),
  paymentIds: Type.Optional(
    Type.Array(Type.String({ format: 'uuid' }), { description: 'On transient intents, but not in lists.' }),
  ),
  refundIds: Type.Optional(Type.Array(Type.String({ format: 'uuid' }))),
  timeline: Type.Array(timelineEntry, { description: 'Newest first.' }),
  expiresOn: Type.Optional(Type.String({ format: 'date-time' })),
  merchantWalletId: Type.String(),
  createDate: Type.String({ format: 'date-time' }),
  updateDate: Type.String({ format: 'date-time' }),
})

export const paymentIntentParams = Type.Object({ id: Type.String({ format: 'uuid' }) })

export const paymentIntentFilters = Type.Object({
  status: Type.Optional(Type.Enum([...statuses], { description: 'Of the newest timeline entry.' })),
  context: Type.Optional(Type.Enum([...contexts], { description: 'Of the newest timeline entry.' })),
})
