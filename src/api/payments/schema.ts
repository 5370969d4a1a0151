import Type from 'typebox'
import { moneySchema } from '#api/business/money'
import { riskEvaluationField } from '#api/business/risk-evaluation'
import { waitingForField } from '#api/business/waiting-for'
import { businessChainField, createDateField, idField, updateDateField } from '#api/fields'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'

const statusField = Type.Enum(['pending', 'confirmed', 'paid', 'failed', 'action_required'], {
  title: 'PaymentStatus',
  description: 'pending, then confirmed and paid; or failed.',
})

export const paymentSchema = Type.Object(
  {
    id: idField('The id of the payment.'),
    type: Type.Enum(['payment', 'refund'], { description: 'Whether money came in or goes back.' }),
    status: statusField,
    amount: described(moneySchema, 'The amount on chain.'),
    merchantId: idField('The entity.'),
    merchantWalletId: Type.String({ description: 'The wallet that is credited or pays.' }),
    paymentIntentId: Type.Optional(
      idField(
        'The payment intent. Absent when the money came too late or in another currency, and was credited anyway.',
      ),
    ),
    settlementAmount: Type.Optional(
      described(moneySchema, 'The credited amount, which equals amount; absent on failed payments.'),
    ),
    fees: Type.Optional(
      described(moneySchema, 'Always zero: this server takes none; absent on failed payments.'),
    ),
    networkFees: Type.Optional(
      described(moneySchema, 'Always zero: payers pay those of payments, and the server those of refunds.'),
    ),
    fromAddresses: Type.Optional(
      Type.Object(
        {
          chain: described(businessChainField, 'The chain.'),
          addresses: Type.Array(Type.String(), { description: 'The paying addresses.' }),
        },
        { description: 'The origin of the money; absent on refunds.' },
      ),
    ),
    depositAddress: Type.Object(
      {
        chain: described(businessChainField, 'The chain.'),
        address: logged('address', Type.String({ description: 'The address.' })),
      },
      { description: 'The address that the money arrived at or, for a refund, goes to.' },
    ),
    transactionHash: logged(
      'hash',
      Type.Optional(
        Type.String({
          description: 'The hash of the transaction; absent on a refund that is not signed yet.',
        }),
      ),
    ),
    riskEvaluation: riskEvaluationField,
    waitingFor: waitingForField,
    createDate: createDateField,
    updateDate: updateDateField,
  },
  { title: 'Payment', description: 'A deposit to the address of a payment intent, or a refund.' },
)

export const refundSchema = Type.Object(
  {
    destination: Type.Object(
      {
        address: logged('address', Type.String({ description: 'The address to pay the money back to.' })),
        chain: described(businessChainField, 'The chain to pay on.'),
        addressTag: Type.Optional(
          Type.Union([Type.String({ maxLength: 256 }), Type.Null()], {
            description: 'The memo or tag of the address, on chains that have one.',
          }),
        ),
      },
      { description: 'The address that is paid.' },
    ),
    amount: Type.Object(
      { currency: Type.String({ description: 'The currency of the intent.' }) },
      { description: 'The currency that the refund is paid from.' },
    ),
    toAmount: Type.Object(
      {
        amount: logged(
          'amount',
          Type.String({ description: 'Above zero, as a decimal string.', examples: ['2.00'] }),
        ),
        currency: Type.String({ description: 'The currency of the intent.' }),
      },
      { description: 'The amount to pay back, in the currency that was paid.' },
    ),
  },
  {
    title: 'RefundPaymentIntentRequest',
    description: 'A refund to create.',
    examples: [
      {
        destination: { address: '0x00000000000000000000000000000000000a11ce', chain: 'BASE' },
        amount: { currency: 'USD' },
        toAmount: { amount: '2.00', currency: 'USD' },
      },
    ],
  },
)

export const paymentParams = idParams('PaymentId', 'the payment')
export const refundParams = idParams('PaymentIntentId', 'the payment intent')

const ofCards = (noun: string) =>
  Type.Optional(
    idField(`The ${noun} of a card payment. There are no card payments any more: nothing matches.`),
  )

export const paymentFilters = Type.Object({
  paymentIntentId: Type.Optional(idField('The payment intent: its payments and its refunds.')),
  status: Type.Optional(statusField),
  source: ofCards('source'),
  settlementId: ofCards('settlement'),
  type: Type.Optional(
    Type.Unsafe<unknown>({
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
      description: 'The kind of source, from the time of card payments. Accepted and ignored.',
    }),
  ),
})
