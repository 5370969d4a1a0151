import Type from 'typebox'
import { identitySchema } from '#api/identity'
import { moneySchema } from '#api/money'
import { businessChains } from '#chains/business-chains'
import { payoutStatuses } from '#engines/treasury/index'

const currencies = ['USD', 'EUR', 'BTC', 'ETH', 'MTC', 'FLW', 'MAN']

const sentMoney = Type.Object({
  amount: Type.String({ description: 'Above zero, as a decimal string.', examples: ['2.00'] }),
  currency: Type.String({ description: 'USD (paid in USDC) or EUR (paid in EURC).', examples: ['USD'] }),
})

/** Identity of the sender; unlike for addresses, name and place are required. */
const sender = Type.Object({
  ...identitySchema.properties,
  name: Type.String({ minLength: 1, maxLength: 1024 }),
  addresses: Type.Array(identitySchema.properties.addresses.items, { minItems: 1, maxItems: 10 }),
})

export const newPayoutSchema = Type.Object(
  {
    source: Type.Optional(
      Type.Object({
        type: Type.Enum(['wallet']),
        id: Type.String({ maxLength: 36, description: 'The masterWalletId of GET /v1/configuration.' }),
        identities: Type.Optional(
          Type.Array(sender, {
            maxItems: 10,
            description: 'Who sends. Needed from 3,000 dollars on (2,400 euros): without, the payout fails.',
          }),
        ),
      }),
    ),
    destination: Type.Object({
      type: Type.Enum(['address_book']),
      id: Type.String({ format: 'uuid', description: 'An active recipient of the address book.' }),
    }),
    amount: sentMoney,
    toAmount: Type.Optional(
      Type.Object(
        { amount: Type.Optional(Type.String()), currency: Type.String() },
        {
          description: 'In the same currency.',
        },
      ),
    ),
    purposeOfTransfer: Type.Optional(Type.String({ maxLength: 256, description: 'Accepted and ignored.' })),
  },
  {
    examples: [
      {
        destination: { type: 'address_book', id: '0192f0c1-2b3c-7d4e-8f50-123456789abc' },
        amount: { amount: '2.00', currency: 'USD' },
      },
    ],
  },
)

export const payoutSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  sourceWalletId: Type.String(),
  source: Type.Optional(
    Type.Object(
      { type: Type.Enum(['wallet']), id: Type.String(), identities: Type.Array(Type.Unknown()) },
      { description: 'Only when asked for with returnIdentities.' },
    ),
  ),
  destination: Type.Object({ type: Type.Enum(['address_book']), id: Type.String({ format: 'uuid' }) }),
  amount: moneySchema,
  toAmount: moneySchema,
  fees: Type.Optional(moneySchema),
  networkFees: Type.Optional(moneySchema),
  externalRef: Type.Optional(Type.String({ description: 'The hash of the on-chain transaction.' })),
  status: Type.Enum([...payoutStatuses]),
  errorCode: Type.Optional(
    Type.Enum(['insufficient_funds', 'transaction_denied', 'transaction_failed'], {
      description:
        'insufficient_funds: the coins of this account lie on other chains. transaction_denied: see riskEvaluation.',
    }),
  ),
  riskEvaluation: Type.Optional(
    Type.Object({
      decision: Type.Enum(['denied']),
      reason: Type.String({ description: '3220: identities are missing. 3000: policy does not allow it.' }),
    }),
  ),
  createDate: Type.String({ format: 'date-time' }),
  updateDate: Type.String({ format: 'date-time' }),
})

export const payoutParams = Type.Object({ id: Type.String({ format: 'uuid' }) })

export const payoutQuery = Type.Object({
  returnIdentities: Type.Optional(Type.Boolean({ description: 'Also show who sends.' })),
})

/** One value, or several by repeating the parameter. */
const repeated = (values: readonly string[], description: string) => {
  const item = { type: 'string', enum: [...values] }
  return Type.Optional(
    Type.Unsafe<string | string[]>({ anyOf: [item, { type: 'array', items: item }], description }),
  )
}

export const fiatTypes = ['wire', 'ach', 'sen', 'pix', 'sepa', 'cubix', 'cbit']

export const payoutFilters = Type.Object({
  source: Type.Optional(Type.String({ maxLength: 36, description: 'A wallet id: digits.' })),
  destination: Type.Optional(Type.String({ format: 'uuid', description: 'The recipient.' })),
  type: repeated(['address_book', ...fiatTypes], 'Of the destination: address_book.'),
  status: repeated(payoutStatuses, 'Any of these.'),
  sourceCurrency: Type.Optional(Type.Enum(currencies)),
  destinationCurrency: Type.Optional(Type.Enum(currencies)),
  chain: Type.Optional(Type.Enum([...businessChains])),
})
