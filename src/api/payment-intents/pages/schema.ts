import Type from 'typebox'
import { businessChainField, createDateField, dateField, updateDateField } from '#api/fields'
import { described, logged } from '#runtime/http/openapi/annotate'
import { pageTokenPattern } from './page-link.ts'

/** Most chains on offer: each is an address that is watched. */
const chainsMax = 16

const merchantNameField = Type.String({
  minLength: 1,
  maxLength: 60,
  pattern: '\\S',
  description:
    'The name that your customers know you by. The page shows it, and shows no control characters.',
  examples: ['Corner Books'],
})
const descriptionField = Type.String({
  maxLength: 200,
  description: 'What is paid for, such as the number of an order.',
  examples: ['Order 1042'],
})
const returnUrlField = Type.String({
  maxLength: 2048,
  description:
    'Where the button of the page leads back to, and whose host it names: https, or in a sandbox http on this machine.',
  examples: ['https://shop.example/orders/1042'],
})

export const newPaymentPageSchema = Type.Object(
  {
    merchantName: merchantNameField,
    description: Type.Optional(descriptionField),
    returnUrl: Type.Optional(returnUrlField),
    chains: Type.Optional(
      Type.Array(businessChainField, {
        maxItems: chainsMax,
        description:
          'The chains that the customer may choose from, beside that of the intent, which comes first. Each gets an address of the intent.',
      }),
    ),
  },
  {
    title: 'SetPaymentPageRequest',
    description: 'The contents of the page of a payment intent.',
    examples: [
      {
        merchantName: 'Corner Books',
        description: 'Order 1042',
        returnUrl: 'https://shop.example/orders/1042',
        chains: ['ETH'],
      },
    ],
  },
)

const addressField = logged(
  'address',
  Type.String({ description: 'The address to pay to, the same on all chains of a family.' }),
)

export const paymentPageSchema = Type.Object(
  {
    url: Type.String({
      description:
        'The link of the page. It shows this intent alone, works without a key, and stays the same: give it to the customer.',
    }),
    merchantName: merchantNameField,
    description: Type.Optional(descriptionField),
    returnUrl: Type.Optional(returnUrlField),
    paymentMethods: Type.Array(
      Type.Object(
        {
          type: Type.Enum(['blockchain'], { description: 'Always blockchain.' }),
          chain: described(businessChainField, 'A chain on offer.'),
          address: addressField,
        },
        { description: 'A way to pay.' },
      ),
      { description: 'The chains on offer; that of the intent first.' },
    ),
    createDate: createDateField,
    updateDate: updateDateField,
  },
  { title: 'PaymentPage', description: 'The page on which a customer pays an intent.' },
)

const amountText = (description: string) =>
  Type.String({ format: 'decimal', description, examples: ['25.00'] })

const stageField = Type.Enum(
  [
    'waiting',
    'underpaid',
    'confirming',
    'received',
    'paid',
    'overpaid',
    'endedUnderpaid',
    'expired',
    'cancelled',
    'failed',
    'refunded',
  ],
  {
    title: 'PaymentStage',
    description:
      'waiting for money; underpaid while more is to come; confirming when all of it is in blocks; then paid or overpaid, or received where no amount is asked for. Without the whole amount, it ends as endedUnderpaid, expired or cancelled.',
  },
)

const shownMethodSchema = Type.Object(
  {
    chain: described(businessChainField, 'A chain on offer.'),
    name: Type.String({ description: 'The name of its network, for people.' }),
    address: addressField,
    tokenAddress: Type.String({ description: 'The contract, or the mint, of the coin on this network.' }),
    paymentUri: Type.Optional(
      Type.String({
        description:
          'The payment as wallets read it, with the amount that is missing: EIP-681 or Solana Pay. Absent where the family has no standard.',
      }),
    ),
    browserCall: Type.Optional(
      Type.Object(
        {
          network: Type.String({ description: 'The chain, as wallets name it.' }),
          to: Type.String({ description: 'The contract of the coin.' }),
          data: Type.String({ description: 'The transfer of the missing amount to the address.' }),
        },
        {
          description:
            'The payment as a wallet in a browser is asked for it (EIP-1193). Absent where no amount is asked for, and on families without such wallets.',
        },
      ),
    ),
    confirmations: Type.Integer({ description: 'The blocks that a payment needs, its own counted.' }),
  },
  { description: 'A way to pay.' },
)

const shownPaymentSchema = Type.Object(
  {
    type: Type.Enum(['payment', 'refund'], {
      description: 'Whether the customer paid, or the merchant paid back.',
    }),
    status: Type.Enum(['pending', 'confirmed', 'paid', 'failed', 'action_required'], {
      description: 'As the merchant sees it.',
    }),
    amount: amountText('The amount.'),
    chain: described(businessChainField, 'The chain of the payment.'),
    name: Type.String({ description: 'The name of its network, for people.' }),
    confirmations: Type.Integer({
      description: 'The blocks that confirm it, up to those that it needs; 0 while no block has it.',
    }),
    confirmationsNeeded: Type.Integer({ description: 'The blocks that it needs.' }),
    transactionHash: Type.Optional(logged('hash', Type.String({ description: 'Its transaction.' }))),
    createDate: createDateField,
  },
  { description: 'A payment or a refund.' },
)

export const shownPaymentPageSchema = Type.Object(
  {
    stage: stageField,
    takesPayment: Type.Boolean({ description: 'Whether the customer should pay now.' }),
    merchantName: merchantNameField,
    description: Type.Optional(descriptionField),
    returnUrl: Type.Optional(returnUrlField),
    isTest: Type.Boolean({ description: 'Whether the coins are those of test networks, and worth nothing.' }),
    token: Type.Enum(['USDC', 'EURC'], { description: 'The coin to pay with.' }),
    amount: Type.Optional(amountText('What is asked for; absent where any amount is welcome.')),
    amountPaid: amountText('What is settled.'),
    amountSeen: amountText('What blocks hold and is not settled yet.'),
    amountMissing: Type.Optional(amountText('What is still to be paid; absent where any amount is welcome.')),
    amountExcess: Type.Optional(amountText('What was paid beyond it; absent where any amount is welcome.')),
    amountRefunded: amountText('What the merchant paid back.'),
    expiresOn: Type.Optional(dateField('The end of the time to pay.')),
    now: dateField('The time of this answer.'),
    paymentMethods: Type.Array(shownMethodSchema, {
      description: 'The chains on offer; empty when the intent takes no more payments.',
    }),
    payments: Type.Array(shownPaymentSchema, { description: 'The newest ten payments and refunds.' }),
  },
  { title: 'ShownPaymentPage', description: 'What a customer sees of a payment intent.' },
)

export const pageTokenParams = Type.Object({
  token: Type.String({ pattern: pageTokenPattern, description: 'The last part of the link.' }),
})
