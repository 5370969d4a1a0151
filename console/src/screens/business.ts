import { ask } from '../api/ask.ts'
import { address, chain, duration, money, status, text, time } from '../parts/cell.ts'
import { recipientChoices } from './choices.ts'
import {
  type Action,
  type Column,
  type DetailScreen,
  followsTypes,
  type ListScreen,
  type Row,
} from './screen.ts'

type Money = { amount?: string; currency?: string }
type Party = { type?: string; id?: string; address?: string; chain?: string; addressId?: string }

const currencies = ['USD', 'EUR'].map((value) => ({ value, title: value }))
/** The chains of the business account, by its codes. */
const chains = ['ARB', 'AVAX', 'BASE', 'ETH', 'MONAD', 'OP', 'POLY', 'UNI'].map((value) => ({
  value,
  title: value,
}))
const chainCodes = chains.map(({ value }) => value)

type Intent = Row & {
  type?: string
  amount?: Money
  amountPaid?: Money
  amountRefunded?: Money
  settlementCurrency?: string
  paymentMethods?: { chain: string; address?: string }[]
  paymentIds?: string[]
  timeline: { status: string; context?: string; time: string }[]
  expiresOn?: string
  createDate: string
}

const stateOf = ({ timeline }: Intent) => timeline[0]?.status

export const paymentIntents: ListScreen<Intent> = {
  title: 'Payment intents',
  path: '/v1/paymentIntents',
  columns: [
    { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
    { title: 'Type', cell: ({ type }) => text(type ?? 'transient'), place: 'title' },
    { title: 'Asked', isNumber: true, cell: ({ amount }) => money(amount), place: 'amount' },
    { title: 'Paid', isNumber: true, cell: ({ amountPaid }) => money(amountPaid) },
    { title: 'Chain', cell: ({ paymentMethods }) => chain(paymentMethods?.[0]?.chain), place: 'below' },
    { title: 'Address', cell: ({ paymentMethods }) => address(paymentMethods?.[0]?.address) },
    { title: 'State', cell: (intent) => status(stateOf(intent)), place: 'state' },
  ],
  hrefOf: (intent) => `/payment-intents/${intent.id}`,
  follows: followsTypes('paymentIntent', 'payment'),
  filters: [
    {
      name: 'status',
      title: 'State',
      options: ['created', 'pending', 'active', 'complete', 'expired', 'refunded'],
    },
    { name: 'context', title: 'Context', options: ['paid', 'underpaid', 'overpaid'] },
  ],
  actions: [
    {
      title: 'Ask for a payment',
      icon: 'plus',
      tone: 'primary',
      fields: [
        { name: 'amount', title: 'Amount', hint: 'In whole coins, such as 49.9' },
        { name: 'currency', title: 'Currency', options: currencies },
        { name: 'chain', title: 'Chain', options: chains, value: 'BASE' },
        {
          name: 'expiresOn',
          title: 'Expires',
          hint: 'An instant such as 2027-01-31T12:00:00Z',
          isOptional: true,
        },
      ],
      async run(_, { amount, currency, chain: chainCode, expiresOn }) {
        const { data } = await ask<{ id: string }>('POST', '/v1/paymentIntents', {
          idempotencyKey: crypto.randomUUID(),
          amount: { amount, currency },
          settlementCurrency: currency,
          paymentMethods: [{ type: 'blockchain', chain: chainCode }],
          ...(expiresOn && { expiresOn }),
        })
        return { goTo: `/payment-intents/${data.id}` }
      },
    },
  ],
  empty: {
    text: 'No payment intents yet. Each asks a customer for an amount at an address of its own.',
    trigger: 'paymentIntent.created',
  },
}

const refund: Action<Intent> = {
  title: 'Refund',
  icon: 'undo-2',
  about: 'Pays money of this intent back to an address. What is sent cannot be taken back.',
  typed: () => 'refund',
  isOffered: ({ amountPaid }) => Number(amountPaid?.amount ?? 0) > 0,
  fields: [
    { name: 'address', title: 'To' },
    { name: 'amount', title: 'Amount' },
    { name: 'currency', title: 'Currency', options: currencies },
    { name: 'chain', title: 'Chain', options: chains, value: 'BASE' },
  ],
  async run(item, { address: to, amount, currency, chain: chainCode }) {
    await ask('POST', `/v1/paymentIntents/${item.id}/refund`, {
      idempotencyKey: crypto.randomUUID(),
      destination: { address: to, chain: chainCode },
      amount: { amount, currency },
      toAmount: { currency },
    })
    return { told: 'The refund is on its way.' }
  },
}

const expire: Action<Intent> = {
  title: 'Expire',
  icon: 'hourglass',
  tone: 'danger',
  about: 'Ends the intent now. Money that comes later is still yours, and tells no intent.',
  isOffered: (intent) => ['created', 'pending', 'active'].includes(stateOf(intent) ?? ''),
  async run(item) {
    await ask('POST', `/v1/paymentIntents/${item.id}/expire`, {})
    return { told: 'The intent is expired.' }
  },
}

export const paymentIntent: DetailScreen<Intent> = {
  list: { title: 'Payment intents', href: '/payment-intents' },
  pathOf: (intentId) => `/v1/paymentIntents/${intentId}`,
  titleOf: ({ amount }) =>
    amount?.amount ? `Asks for ${amount.amount} ${amount.currency}` : 'Continuous intent',
  stateOf,
  facts: [
    { title: 'Asked', cell: ({ amount }) => money(amount) },
    { title: 'Paid', cell: ({ amountPaid }) => money(amountPaid) },
    { title: 'Refunded', cell: ({ amountRefunded }) => money(amountRefunded) },
    { title: 'Address', cell: ({ paymentMethods }) => address(paymentMethods?.[0]?.address) },
    { title: 'Chain', cell: ({ paymentMethods }) => chain(paymentMethods?.[0]?.chain) },
    { title: 'Expires', cell: ({ expiresOn }) => time(expiresOn) },
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
    {
      title: 'States',
      cell: ({ timeline }) =>
        text(
          [...timeline]
            .reverse()
            .map((each) => each.status)
            .join(' → '),
        ),
    },
  ],
  actions: [refund, expire],
  follows: () => followsTypes('paymentIntent', 'payment', 'refund'),
  parts: [
    {
      title: 'Payments',
      pathOf: (intent) => `/v1/payments?paymentIntentId=${intent.id}&pageSize=20`,
      columns: [
        { title: 'Created', cell: (row) => time(row['createDate'] as string), place: 'below' },
        { title: 'Type', cell: (row) => text(row['type'] as string), place: 'title' },
        { title: 'Amount', isNumber: true, cell: (row) => money(row['amount'] as Money), place: 'amount' },
        { title: 'State', cell: (row) => status(row['status'] as string), place: 'state' },
      ],
      hrefOf: (row) => `/movements/${row.id}`,
      empty: 'Nothing is paid yet.',
    },
  ],
}

type Payment = Row & {
  type: string
  status: string
  amount: Money
  depositAddress?: { chain?: string; address?: string }
  fromAddresses?: { chain?: string; addresses?: string[] }
  paymentIntentId?: string
  createDate: string
}

export const payments: ListScreen<Payment> = {
  title: 'Payments',
  path: '/v1/payments',
  columns: [
    { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
    { title: 'Type', cell: ({ type }) => text(type), place: 'title' },
    {
      title: 'Amount',
      isNumber: true,
      cell: ({ amount, type }) => money(amount, type === 'refund' ? 'out' : 'in'),
      place: 'amount',
    },
    {
      title: 'From → to',
      cell: ({ fromAddresses, depositAddress }) => ({
        as: 'parties',
        from: { address: fromAddresses?.addresses?.[0] },
        to: { address: depositAddress?.address },
      }),
    },
    { title: 'Chain', cell: ({ depositAddress }) => chain(depositAddress?.chain), place: 'below' },
    { title: 'State', cell: (payment) => status(payment.status), place: 'state' },
  ],
  hrefOf: (payment) => `/movements/${payment.id}`,
  follows: followsTypes('payment', 'refund'),
  filters: [
    {
      name: 'status',
      title: 'State',
      options: ['pending', 'confirmed', 'paid', 'failed', 'action_required'],
    },
    { name: 'paymentIntentId', title: 'Payment intent id' },
  ],
  empty: { text: 'No payments yet.', trigger: 'payment.paid' },
}

type Payout = Row & {
  amount: Money
  toAmount?: Money
  destination: Party
  status: string
  externalRef?: string
  waitingFor?: string
  createDate: string
  updateDate: string
}

const destinationOf = ({ address: to, chain: chainCode, addressId, id: recipientId }: Party) => ({
  address: to,
  label: to ? undefined : (recipientId ?? addressId ?? chainCode),
})

export const payouts: ListScreen<Payout> = {
  title: 'Payouts',
  path: '/v1/payouts',
  columns: [
    { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
    {
      title: 'To',
      cell: ({ destination }) => text(destination.address ?? destination.id ?? destination.addressId),
      place: 'title',
    },
    { title: 'Amount', isNumber: true, cell: ({ amount }) => money(amount, 'out'), place: 'amount' },
    { title: 'Your reference', cell: ({ externalRef }) => text(externalRef) },
    { title: 'Waits for', cell: ({ waitingFor }) => text(waitingFor) },
    { title: 'State', cell: (payout) => status(payout.status), place: 'state' },
    {
      title: 'Took',
      isNumber: true,
      cell: ({ createDate, updateDate, status: state }) =>
        state === 'pending' ? undefined : duration(Date.parse(updateDate) - Date.parse(createDate)),
    },
  ],
  hrefOf: (payout) => `/movements/${payout.id}`,
  follows: followsTypes('payout'),
  filters: [
    { name: 'status', title: 'State', options: ['pending', 'complete', 'failed'] },
    { name: 'sourceCurrency', title: 'Currency', options: ['USD', 'EUR'] },
    { name: 'chain', title: 'Chain', options: chainCodes },
    { name: 'destination', title: 'Recipient id' },
  ],
  actions: [
    {
      title: 'Pay out',
      icon: 'upload',
      tone: 'primary',
      about: 'Pays a recipient of the address book. What is sent cannot be taken back.',
      typed: () => 'pay',
      fields: [
        { name: 'recipient', title: 'Recipient', choices: recipientChoices },
        { name: 'amount', title: 'Amount' },
        { name: 'currency', title: 'Currency', options: currencies },
        { name: 'externalRef', title: 'Your reference', isOptional: true },
      ],
      async run(_, { recipient, amount, currency, externalRef }) {
        const { data } = await ask<{ id: string }>('POST', '/v1/payouts', {
          idempotencyKey: crypto.randomUUID(),
          destination: { type: 'address_book', id: recipient },
          amount: { amount, currency },
          toAmount: { currency },
          ...(externalRef && { externalRef }),
        })
        return { goTo: `/movements/${data.id}` }
      },
    },
  ],
  empty: { text: 'No payouts yet. They go to recipients of the address book.', trigger: 'payout.complete' },
}

type Transfer = Row & {
  source: Party
  destination: Party
  amount: Money
  status: string
  transactionHash?: string
  createDate: string
}

export const transfers: ListScreen<Transfer> = {
  title: 'Transfers',
  path: '/v1/businessAccount/transfers',
  columns: [
    { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
    { title: 'Amount', isNumber: true, cell: ({ amount }) => money(amount), place: 'amount' },
    {
      title: 'From → to',
      place: 'title',
      cell: ({ source, destination }) => ({
        as: 'parties',
        from: destinationOf(source),
        to: destinationOf(destination),
      }),
    },
    {
      title: 'Chain',
      cell: ({ destination, source }) => chain(destination.chain ?? source.chain),
      place: 'below',
    },
    { title: 'State', cell: (transfer) => status(transfer.status), place: 'state' },
  ],
  hrefOf: (transfer) => `/movements/${transfer.id}`,
  follows: followsTypes('transfer'),
  empty: { text: 'No transfers of the business account yet.', trigger: 'transfer.complete' },
}

type Deposit = Row & { amount: Money; status: string; destination: Party; createDate: string }

export const deposits: ListScreen<Deposit> = {
  title: 'Deposits',
  path: '/v1/businessAccount/deposits',
  columns: [
    { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
    { title: 'To', cell: ({ destination }) => text(destination.type), place: 'title' },
    { title: 'Amount', isNumber: true, cell: ({ amount }) => money(amount, 'in'), place: 'amount' },
    { title: 'State', cell: (deposit) => status(deposit.status), place: 'state' },
  ],
  hrefOf: (deposit) => `/movements/${deposit.id}`,
  follows: followsTypes('deposit'),
  empty: { text: 'No deposits yet.' },
}

type Recipient = Row & {
  chain: string
  address: string
  status: string
  metadata?: { nickname?: string; email?: string; bns?: string }
  createDate: string
}

export const addressBook: ListScreen<Recipient> = {
  title: 'Address book',
  path: '/v1/addressBook/recipients',
  columns: [
    {
      title: 'Recipient',
      cell: (recipient) => address(recipient.address, recipient.metadata?.nickname),
      place: 'title',
    },
    { title: 'Chain', cell: ({ chain: code }) => chain(code), place: 'below' },
    { title: 'E-mail', cell: ({ metadata }) => text(metadata?.email) },
    { title: 'State', cell: (recipient) => status(recipient.status), place: 'state' },
    { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
  ],
  hrefOf: (recipient) => `/address-book/${recipient.id}`,
  follows: followsTypes('recipient'),
  filters: [
    { name: 'status', title: 'State', options: ['pending', 'active', 'inactive', 'denied'] },
    { name: 'chain', title: 'Chain', options: chainCodes },
    { name: 'address', title: 'Address' },
    { name: 'email', title: 'E-mail' },
  ],
  actions: [
    {
      title: 'Add a recipient',
      icon: 'plus',
      tone: 'primary',
      fields: [
        { name: 'chain', title: 'Chain', options: chains, value: 'BASE' },
        { name: 'address', title: 'Address' },
        { name: 'nickname', title: 'Name', isOptional: true },
        { name: 'email', title: 'E-mail', isOptional: true },
      ],
      async run(_, { chain: code, address: to, nickname, email }) {
        const { data } = await ask<{ id: string }>('POST', '/v1/addressBook/recipients', {
          idempotencyKey: crypto.randomUUID(),
          chain: code,
          address: to,
          metadata: { nickname, email },
        })
        return { goTo: `/address-book/${data.id}` }
      },
    },
  ],
  empty: { text: 'No recipients yet. Payouts go to recipients alone.' },
}

export const recipient: DetailScreen<Recipient> = {
  list: { title: 'Address book', href: '/address-book' },
  pathOf: (recipientId) => `/v1/addressBook/recipients/${recipientId}`,
  titleOf: ({ metadata, address: to }) => metadata?.nickname ?? to,
  stateOf: (item) => item.status,
  facts: [
    { title: 'Address', cell: (item) => address(item.address) },
    { title: 'Chain', cell: (item) => chain(item.chain) },
    { title: 'E-mail', cell: ({ metadata }) => text(metadata?.email) },
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
  ],
  actions: [
    {
      title: 'Remove',
      icon: 'trash',
      tone: 'danger',
      about: 'Removes the recipient. Payouts to it are refused from then on; those under way go on.',
      typed: () => 'remove',
      async run(item) {
        await ask('DELETE', `/v1/addressBook/recipients/${item.id}`)
        return { goTo: '/address-book', told: 'The recipient is removed.' }
      },
    },
  ],
  parts: [
    {
      title: 'Payouts',
      pathOf: (item) => `/v1/payouts?destination=${item.id}&pageSize=20`,
      columns: payouts.columns as readonly Column<Row>[],
      hrefOf: (row) => `/movements/${row.id}`,
      empty: 'Nothing was paid to it yet.',
    },
  ],
}
