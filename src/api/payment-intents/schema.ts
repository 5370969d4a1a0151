import Type from 'typebox'
import { anyMoneySchema, currencyField } from '#api/business/money'
import { purposeField, shownPurposeField } from '#api/business/purpose'
import { businessChainField, createDateField, dateField, idField, updateDateField } from '#api/fields'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'

const methodType = Type.Enum(['blockchain'], { description: 'Always blockchain.' })

export const newPaymentIntentSchema = Type.Object(
  {
    type: Type.Optional(
      Type.Enum(['continuous', 'transient'], {
        description:
          'A transient intent expects one amount, a continuous one any number of payments. Default: continuous, also when an amount is given.',
      }),
    ),
    amount: Type.Optional(
      Type.Object(
        {
          amount: logged(
            'amount',
            Type.Optional(
              Type.String({ description: 'Above zero, as a decimal string.', examples: ['2.00'] }),
            ),
          ),
          currency: Type.Optional(described(currencyField, 'The currency to receive.')),
        },
        { description: 'The amount that a transient intent expects.' },
      ),
    ),
    currency: Type.Optional(described(currencyField, 'The currency that a continuous intent receives.')),
    settlementCurrency: described(currencyField, 'The same as the currency to receive.'),
    paymentMethods: Type.Array(
      Type.Object(
        { type: methodType, chain: described(businessChainField, 'The chain to receive on.') },
        { description: 'A way to pay.' },
      ),
      { minItems: 1, maxItems: 1, description: 'The one chain to receive on.' },
    ),
    merchantWalletId: Type.Optional(
      Type.String({
        maxLength: 36,
        description: 'The main wallet; the default is the `masterWalletId` of GET /v1/configuration.',
      }),
    ),
    purposeOfTransfer: purposeField('purposeInvalid'),
    expiresOn: Type.Optional(
      Type.String({
        description:
          'The end of a transient intent, RFC 3339, in the future. Default: 8 hours from now. Empty means absent.',
      }),
    ),
  },
  {
    title: 'CreatePaymentIntentRequest',
    description: 'A payment intent to create.',
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

const statusField = Type.Enum(['created', 'pending', 'active', 'complete', 'expired', 'failed', 'refunded'], {
  title: 'PaymentIntentStatus',
  description:
    'created, then with its address pending (transient) or active (continuous); then complete, expired, failed or refunded.',
})
const contextField = Type.Enum(['underpaid', 'paid', 'overpaid'], {
  title: 'PaymentIntentContext',
  description: 'How the paid amount compares with the expected one.',
})

const timelineEntry = Type.Object(
  {
    status: described(statusField, 'The status that the intent entered.'),
    time: dateField('The time of the change.'),
    context: Type.Optional(contextField),
    reason: Type.Optional(
      Type.Enum(['requested_by_merchant', 'fee_collection_failed'], {
        description: 'The reason of an early end.',
      }),
    ),
  },
  { title: 'TimelineEntry', description: 'A change of status.' },
)

const ids = (description: string) =>
  Type.Optional(Type.Array(Type.String({ format: 'uuid' }), { description }))

export const paymentIntentSchema = Type.Object(
  {
    id: idField('The id of the payment intent.'),
    type: Type.Optional(
      Type.Enum(['continuous'], { description: 'Always continuous; absent on transient intents.' }),
    ),
    amount: Type.Optional(described(anyMoneySchema, 'The expected amount; on transient intents only.')),
    currency: Type.Optional(described(currencyField, 'The currency to receive; on continuous intents only.')),
    amountPaid: described(anyMoneySchema, 'The sum of the payments.'),
    amountRefunded: described(anyMoneySchema, 'The sum of the refunds.'),
    settlementCurrency: described(currencyField, 'The currency that is credited.'),
    paymentMethods: Type.Array(
      Type.Object(
        {
          type: methodType,
          chain: described(businessChainField, 'The chain to pay on.'),
          address: logged(
            'address',
            Type.Optional(
              Type.String({
                description: 'The address to pay to, in lower case; absent until it is assigned.',
              }),
            ),
          ),
        },
        { description: 'A way to pay.' },
      ),
      { description: 'The chain and the address to pay to.' },
    ),
    fees: Type.Optional(
      Type.Array(
        Type.Object(
          {
            type: Type.Enum(['blockchainLeaseFee', 'totalPaymentFees'], {
              description: 'The kind of the fee.',
            }),
            amount: logged(
              'amount',
              Type.String({ format: 'decimal', description: 'Always 0.00: this server takes none.' }),
            ),
            currency: described(currencyField, 'The currency of the intent.'),
          },
          { description: 'A fee.' },
        ),
        { description: 'The fees; absent until an address is assigned.' },
      ),
    ),
    paymentIds: ids('The payments; on transient intents, but not in lists.'),
    refundIds: ids('The refunds; on transient intents, but not in lists.'),
    timeline: Type.Array(timelineEntry, { description: 'The changes of status, newest first.' }),
    expiresOn: Type.Optional(dateField('The end of a transient intent, set with its address.')),
    merchantWalletId: logged('id', Type.String({ description: 'The wallet that is credited.' })),
    purposeOfTransfer: shownPurposeField,
    createDate: createDateField,
    updateDate: updateDateField,
  },
  { title: 'PaymentIntent', description: 'An expected deposit, with an address to pay to.' },
)

export const supportedCurrencySchema = Type.Object(
  {
    currency: Type.Enum(['USD', 'EUR'], { description: 'The currency: USD is USDC, EUR is EURC.' }),
    blockchains: Type.Array(businessChainField, { description: 'The chains that carry the currency.' }),
  },
  { title: 'SupportedCurrency', description: 'A currency that payment intents can receive.' },
)

export const paymentIntentParams = idParams('PaymentIntentId', 'the payment intent')

export const paymentIntentFilters = Type.Object({
  status: Type.Optional(described(statusField, 'The status of the newest timeline entry.')),
  context: Type.Optional(described(contextField, 'The context of the newest timeline entry.')),
})
