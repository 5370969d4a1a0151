import Type from 'typebox'
import { moneySchema } from '#api/business/money'
import { riskEvaluationField } from '#api/business/risk-evaluation'
import { waitingForField } from '#api/business/waiting-for'
import { createDateField, idField, updateDateField } from '#api/fields'
import { bankErrorCodes } from '#engines/treasury/banking/index'
import { payoutStatuses } from '#engines/treasury/disbursements/index'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'

const destinationType = Type.Enum(['wire'], { description: 'Always wire.' })

export const newRedemptionSchema = Type.Object(
  {
    destination: Type.Object(
      { type: destinationType, id: idField('The id of a linked bank account whose status is complete.') },
      { description: 'The bank account that gets the money.' },
    ),
    amount: Type.Object(
      {
        amount: logged(
          'amount',
          Type.String({
            description: 'Above zero, with at most two digits after the point.',
            examples: ['2.00'],
          }),
        ),
        currency: Type.String({ description: 'Always USD.', examples: ['USD'] }),
      },
      { description: 'The amount to redeem and pay.' },
    ),
    toAmount: Type.Optional(
      Type.Object(
        { currency: Type.String({ description: 'The currency of amount.' }) },
        { description: 'The currency to receive, which equals that of amount.' },
      ),
    ),
  },
  {
    title: 'CreateBusinessPayoutRequest',
    description: 'A payout to a linked bank account.',
    examples: [
      {
        destination: { type: 'wire', id: '0192f0c1-2b3c-7d4e-8f50-123456789abc' },
        amount: { amount: '2.00', currency: 'USD' },
      },
    ],
  },
)

const status = Type.Enum([...payoutStatuses], {
  description:
    'pending until the coins are redeemed and the bank has paid, then complete. failed: the money is credited again. A complete payout that the bank returns becomes failed.',
})

const returnSchema = Type.Object(
  {
    id: idField('The id of the return.'),
    payoutId: idField('The id of the payout.'),
    amount: described(moneySchema, 'The amount that is credited again.'),
    fees: described(moneySchema, 'Always zero.'),
    reason: Type.String({ description: 'The reason, as the bank gives it.' }),
    status: Type.Enum(['pending', 'complete'], { description: 'pending until the amount is credited.' }),
    createDate: createDateField,
    updateDate: updateDateField,
  },
  { title: 'PayoutReturn', description: 'Money that came back from the bank.' },
)

export const redemptionSchema = Type.Object(
  {
    id: idField('The id of the payout.'),
    sourceWalletId: logged('id', Type.String({ description: 'The wallet that pays: the main wallet.' })),
    destination: Type.Object(
      {
        type: destinationType,
        id: idField('The id of the linked bank account.'),
        name: Type.String({ description: 'The name of the bank and the last four digits of the number.' }),
      },
      { description: 'The bank account.' },
    ),
    amount: described(moneySchema, 'The amount.'),
    toAmount: described(moneySchema, 'The amount that the bank account gets, which equals amount.'),
    fees: Type.Optional(described(moneySchema, 'Always zero; present on complete payouts.')),
    status,
    trackingRef: Type.Optional(
      Type.String({ description: 'The reference of the wire, once the bank names it.' }),
    ),
    externalRef: Type.Optional(Type.String({ description: 'The reference of the bank, once it is known.' })),
    errorCode: Type.Optional(
      Type.Enum([...bankErrorCodes], {
        description:
          'The reason of the failure. insufficient_funds: for 24 hours nothing brought the coins or gas that it lacks, see waitingFor. transaction_returned: see return.',
      }),
    ),
    riskEvaluation: riskEvaluationField,
    return: Type.Optional(returnSchema),
    waitingFor: waitingForField,
    createDate: createDateField,
    updateDate: updateDateField,
  },
  { title: 'BusinessPayout', description: 'Coins that are redeemed, and paid to a linked bank account.' },
)

export const redemptionParams = idParams('BusinessPayoutId', 'the payout')

const statusItem = { type: 'string', enum: [...payoutStatuses] }

export const redemptionFilters = Type.Object({
  destination: Type.Optional(idField('The id of the linked bank account.')),
  type: Type.Optional(Type.Enum(['wire'], { description: 'The type of the destination: wire.' })),
  status: Type.Optional(
    Type.Unsafe<string | string[]>({
      anyOf: [statusItem, { type: 'array', items: statusItem }],
      description: 'The status, or several by repeating the parameter.',
    }),
  ),
})
