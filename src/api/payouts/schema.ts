import Type from 'typebox'
import { moneySchema } from '#api/business/money'
import { payoutStatusField } from '#api/business/payout-status'
import { purposeField, shownPurposeField } from '#api/business/purpose'
import { riskEvaluationField } from '#api/business/risk-evaluation'
import { waitingForField } from '#api/business/waiting-for'
import { businessChainField, createDateField, idField, updateDateField } from '#api/fields'
import { sendersField } from '#api/identity'
import { payoutStatuses } from '#engines/treasury/disbursements/index'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'

const filterCurrency = Type.Enum(['USD', 'EUR', 'BTC', 'ETH', 'MTC', 'FLW', 'MAN'], {
  title: 'PayoutCurrency',
  description: 'A currency of payouts. This server pays USD and EUR.',
})

const sentMoney = Type.Object(
  {
    amount: logged(
      'amount',
      Type.String({ description: 'Above zero, as a decimal string.', examples: ['2.00'] }),
    ),
    currency: Type.String({ description: 'USD (paid in USDC) or EUR (paid in EURC).', examples: ['USD'] }),
  },
  { description: 'The amount to pay.' },
)

const destinationType = Type.Enum(['address_book'], {
  description: 'Always address_book.',
  '~remedy': 'create a recipient with POST /v1/addressBook/recipients and send its id',
})
const sourceType = Type.Enum(['wallet'], { description: 'Always wallet.' })

export const newPayoutSchema = Type.Object(
  {
    source: Type.Optional(
      Type.Object(
        {
          type: sourceType,
          id: Type.String({ maxLength: 36, description: 'The masterWalletId of GET /v1/configuration.' }),
          identities: Type.Optional(sendersField),
        },
        { description: 'The wallet that pays; by default the main wallet.' },
      ),
    ),
    destination: Type.Object(
      {
        type: destinationType,
        id: idField('The id of an active recipient of the address book.'),
        chain: Type.Optional(
          described(businessChainField, 'The chain of the recipient; another one is refused.'),
        ),
      },
      { description: 'The recipient.' },
    ),
    amount: sentMoney,
    toAmount: Type.Optional(
      Type.Object(
        {
          amount: logged('amount', Type.Optional(Type.String({ description: 'The same as amount.amount.' }))),
          currency: Type.String({ description: 'The currency of amount.' }),
        },
        { description: 'The amount to receive, in the same currency.' },
      ),
    ),
    purposeOfTransfer: purposeField('payoutPurposeInvalid'),
  },
  {
    title: 'CreatePayoutRequest',
    description: 'A payout to create.',
    examples: [
      {
        destination: { type: 'address_book', id: '0192f0c1-2b3c-7d4e-8f50-123456789abc' },
        amount: { amount: '2.00', currency: 'USD' },
      },
    ],
  },
)

export const payoutSchema = Type.Object(
  {
    id: idField('The id of the payout.'),
    sourceWalletId: logged('id', Type.String({ description: 'The wallet that pays.' })),
    source: Type.Optional(
      Type.Object(
        {
          type: sourceType,
          id: Type.String({ description: 'The wallet that pays.' }),
          identities: Type.Array(Type.Unknown(), { description: 'The senders, as the request gave them.' }),
        },
        { description: 'The senders; shown with returnIdentities only.' },
      ),
    ),
    destination: Type.Object(
      { type: destinationType, id: idField('The id of the recipient.') },
      { description: 'The recipient.' },
    ),
    amount: described(moneySchema, 'The amount to pay.'),
    toAmount: described(moneySchema, 'The amount that the recipient gets, which equals amount.'),
    fees: Type.Optional(described(moneySchema, 'Always zero; present on complete payouts.')),
    networkFees: Type.Optional(described(moneySchema, 'Always zero; present on complete payouts.')),
    purposeOfTransfer: shownPurposeField,
    externalRef: Type.Optional(Type.String({ description: 'The hash of the on-chain transaction.' })),
    status: payoutStatusField,
    errorCode: Type.Optional(
      Type.Enum(['insufficient_funds', 'transaction_denied', 'transaction_failed'], {
        description:
          'The reason of the failure. insufficient_funds: for 24 hours nothing brought the coins or gas that it lacks, see waitingFor. transaction_denied: see riskEvaluation.',
      }),
    ),
    riskEvaluation: riskEvaluationField,
    waitingFor: waitingForField,
    createDate: createDateField,
    updateDate: updateDateField,
  },
  { title: 'Payout', description: 'A payment in stablecoins to a recipient of the address book.' },
)

export const payoutParams = idParams('PayoutId', 'the payout')

export const payoutQuery = Type.Object({
  returnIdentities: Type.Optional(Type.Boolean({ description: 'Also show the senders.' })),
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
  source: Type.Optional(Type.String({ maxLength: 36, description: 'The wallet that paid: digits.' })),
  destination: Type.Optional(idField('The id of the recipient.')),
  type: repeated(['address_book', ...fiatTypes], 'The type of the destination: address_book.'),
  status: repeated(payoutStatuses, 'The status, or several.'),
  sourceCurrency: Type.Optional(described(filterCurrency, 'The currency of amount.')),
  destinationCurrency: Type.Optional(described(filterCurrency, 'The currency of toAmount.')),
  chain: Type.Optional(described(businessChainField, 'The chain of the recipient.')),
})
