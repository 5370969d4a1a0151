import Type from 'typebox'
import { dateField } from '#api/fields'
import { needKinds, severities } from '#engines/movements/index'
import { described } from '#runtime/http/openapi/annotate'
import { pointsMax } from './flow-bucket.ts'

const optional = Type.Optional

const currencyField = Type.Enum(['USD', 'EUR'], {
  title: 'OperatorCurrency',
  description: 'The currency: USD is USDC, EUR is EURC.',
})
const amountField = (description: string) => Type.String({ description: `${description} A decimal string.` })

export const flowFilters = Type.Object({
  from: optional(dateField('The first bucket is the one with this instant. Default: a day before `to`.')),
  to: optional(dateField('The last bucket is the one with this instant. Default: the time of the request.')),
  bucket: optional(
    Type.String({
      maxLength: 20,
      description: `The width of a bucket: a multiple of PT5M of at most P1D, such as PT30M (the default) or PT1H. An answer has at most ${pointsMax}.`,
    }),
  ),
  currency: optional(described(currencyField, 'The currency. Default: USD.')),
})

export const flowSchema = Type.Object(
  {
    currency: currencyField,
    bucket: Type.String({ description: 'The width of a bucket.' }),
    points: Type.Array(
      Type.Object(
        {
          date: dateField('The beginning of the bucket, a multiple of its width in UTC.'),
          in: amountField('The amount that came in.'),
          out: amountField('The amount that went out.'),
          count: Type.Integer({ description: 'The number of transfers in both directions.' }),
        },
        { title: 'FlowPoint', description: 'What moved in one bucket.' },
      ),
      { description: 'One point for each bucket, in the order of time.' },
    ),
  },
  { title: 'Flow', description: 'The money that came in and went out over time.' },
)

export const overviewFilters = Type.Object({
  currency: optional(described(currencyField, 'The currency of the balances. Default: all.')),
})

const balanceSchema = Type.Object(
  {
    currency: currencyField,
    amount: amountField('The coins at all addresses of the entity.'),
    held: amountField(
      'The part of the money that is reserved: for payouts, transfers and refunds that are not paid yet, for transactions under way, and for what an operator has to approve.',
    ),
    byBlockchain: Type.Array(
      Type.Object(
        {
          blockchain: Type.String({ description: 'The blockchain.' }),
          amount: amountField('The coins there.'),
        },
        { description: 'The coins on one chain.' },
      ),
      { description: 'The amount by chain, in alphabetical order.' },
    ),
  },
  { title: 'OverviewBalance', description: 'What the entity has of one currency.' },
)

const needSchema = Type.Object(
  {
    kind: Type.Enum([...needKinds], { title: 'NeedKind', description: 'What it is about.' }),
    severity: Type.Enum([...severities], {
      title: 'Severity',
      description: 'bad; warn: somebody has to act; info: it ends by itself.',
    }),
    text: Type.String({ description: 'What is wrong, and what ends it.' }),
    movementId: optional(Type.String({ format: 'uuid', description: 'The movement that it is about.' })),
    subscriptionId: optional(
      Type.String({ format: 'uuid', description: 'The subscription that it is about.' }),
    ),
    walletId: optional(Type.String({ format: 'uuid', description: 'The wallet that it is about.' })),
    sinceDate: dateField('Since when.'),
  },
  { title: 'Need', description: 'Something that needs somebody.' },
)

export const overviewSchema = Type.Object(
  {
    balances: Type.Array(balanceSchema, { description: 'The balances by currency.' }),
    proof: Type.Object(
      {
        blockNumberByBlockchain: Type.Record(Type.String(), Type.Integer(), {
          description:
            'The block up to which the books were compared with each chain; none of a chain that was not yet.',
        }),
        gapCount: Type.Integer({
          description: 'The number of balances that differ, up to 10,000: see GET /operator/reconciliations.',
        }),
        comparedDate: optional(
          dateField('When a chain was compared last. A chain without new blocks is not compared again.'),
        ),
      },
      { title: 'Proof', description: 'The continuous comparison of the books with the chains.' },
    ),
    needs: Type.Array(needSchema, {
      description: 'What needs somebody, at most 20 of each kind: the worst first, and of those the oldest.',
    }),
    webhooks: Type.Object(
      {
        delivered: Type.Integer({
          description:
            'The number of deliveries of the newest 2,000 notifications of the last 24 hours that were taken.',
        }),
        firstTryShare: optional(
          Type.Number({
            minimum: 0,
            maximum: 1,
            description: 'The share of them whose first attempt was taken; absent without one.',
          }),
        ),
        p50Ms: optional(
          Type.Integer({ description: 'The median time of the attempts that were taken, in milliseconds.' }),
        ),
        p99Ms: optional(
          Type.Integer({
            description: 'The time in milliseconds within which 99 of 100 of them were answered.',
          }),
        ),
      },
      { title: 'WebhookFigures', description: 'How webhooks arrive.' },
    ),
  },
  { title: 'Overview', description: 'The state of an entity at a glance.' },
)
