import { ask } from '../api/ask.ts'
import { wordsOf } from '../format/text.ts'
import { address, amount, chain, id, json, link, mono, status, text, time } from '../parts/cell.ts'
import { blockchains, chainChoices } from './choices.ts'
import type { Action, DetailScreen, ListScreen, Row } from './screen.ts'

type Review = Row & {
  resource: 'transaction' | 'payment' | 'transfer'
  state: string
  ruleName: string
  blockchain?: string
  amount?: string
  token?: string
  walletId?: string
  sourceAddress?: string
  destinationAddress?: string
  firstApprover?: string
  decidedBy?: string
  reason?: string
  createDate: string
}

export const reviews: ListScreen<Review> = {
  title: 'Reviews',
  path: '/operator/reviews',
  columns: [
    { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
    { title: 'Rule', cell: ({ ruleName }) => text(ruleName), place: 'title' },
    {
      title: 'Amount',
      isNumber: true,
      cell: (review) => amount(review.amount, review.token),
      place: 'amount',
    },
    {
      title: 'From → to',
      cell: ({ sourceAddress, destinationAddress }) => ({
        as: 'parties',
        from: { address: sourceAddress },
        to: { address: destinationAddress },
      }),
    },
    { title: 'Chain', cell: ({ blockchain }) => chain(blockchain), place: 'below' },
    { title: 'State', cell: ({ state }) => status(state), place: 'state' },
  ],
  hrefOf: (review) => `/reviews/${review.id}`,
  filters: [{ name: 'state', title: 'State', options: ['pending', 'approved', 'denied', 'withdrawn'] }],
  follows: () => true,
  empty: { text: 'Nothing was left to an operator yet. Screening decides most by itself.' },
}

/** A deposit stays denied until it is approved after all; a denied transaction has ended. */
const isOpen = ({ state, resource }: Review, verb: 'approve' | 'deny') =>
  state === 'pending' || (verb === 'approve' && state === 'denied' && resource !== 'transaction')

const decide = (verb: 'approve' | 'deny'): Action<Review> => ({
  title: verb === 'approve' ? 'Approve' : 'Deny',
  icon: verb === 'approve' ? 'check' : 'x',
  tone: verb === 'approve' ? 'primary' : 'danger',
  isOffered: (item) => isOpen(item, verb),
  about:
    verb === 'approve'
      ? 'Lets the money go. It cannot be taken back.'
      : 'Ends what was to be sent, and frees what it held. What was received stays held.',
  typed: () => verb,
  fields: [{ name: 'reason', title: 'Reason', hint: 'It is kept in the audit trail.' }],
  async run(item, { reason }) {
    const { data } = await ask<Review>('POST', `/operator/reviews/${item.id}/${verb}`, { reason })
    return {
      told:
        data.state === 'pending'
          ? 'The approval counts. A second operator has to approve too.'
          : `The review is ${data.state}.`,
    }
  },
})

export const review: DetailScreen<Review> = {
  list: { title: 'Reviews', href: '/reviews' },
  pathOf: (reviewId) => `/operator/reviews/${reviewId}`,
  titleOf: ({ ruleName }) => ruleName ?? 'Review',
  stateOf: ({ state }) => state,
  facts: [
    {
      title: 'Movement',
      cell: ({ id: movementId, resource }) =>
        link(`${wordsOf(resource)} and its timeline`, `/movements/${movementId}`),
    },
    { title: 'Amount', cell: (item) => amount(item.amount, item.token) },
    { title: 'Chain', cell: ({ blockchain }) => chain(blockchain) },
    { title: 'From', cell: ({ sourceAddress }) => address(sourceAddress) },
    { title: 'To', cell: ({ destinationAddress }) => address(destinationAddress) },
    { title: 'Wallet', cell: ({ walletId }) => id(walletId, `/wallets/${walletId}`) },
    { title: 'First approver', cell: ({ firstApprover }) => mono(firstApprover) },
    { title: 'Decided by', cell: ({ decidedBy }) => mono(decidedBy) },
    { title: 'Reason', cell: ({ reason }) => text(reason) },
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
  ],
  actions: [decide('approve'), decide('deny')],
  follows: () => () => true,
}

type Screening = Row & {
  result: string
  address: string
  chain: string
  decision?: {
    ruleName?: string
    actions: string[]
    reasons?: { riskScore: string; riskCategories: string[] }[]
  }
  details?: unknown
  createDate: string
}

export const screenings: ListScreen<Screening> = {
  title: 'Screenings',
  about: 'Addresses that your program, or you, asked about. Each decision is kept as it was made.',
  path: '/operator/screenings',
  columns: [
    { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
    { title: 'Address', cell: (row) => address(row.address), place: 'title' },
    { title: 'Chain', cell: (row) => chain(row.chain), place: 'below' },
    { title: 'Rule', cell: ({ decision }) => text(decision?.ruleName) },
    { title: 'Actions', cell: ({ decision }) => text(decision?.actions.join(', ')) },
    { title: 'Result', cell: ({ result }) => status(result), place: 'state' },
  ],
  filters: [
    { name: 'result', title: 'Result', options: ['APPROVED', 'DENIED'] },
    { name: 'chain', title: 'Chain', options: blockchains },
    { name: 'address', title: 'Address', placeholder: 'Address, with its chain' },
  ],
  actions: [
    {
      title: 'Screen an address',
      icon: 'fingerprint-pattern',
      tone: 'primary',
      about:
        'Asks the lists of this server about an address as the receiver of money, and keeps the decision.',
      fields: [
        { name: 'chain', title: 'Chain', choices: () => chainChoices() },
        { name: 'address', title: 'Address' },
      ],
      async run(_, values) {
        const { data } = await ask<Screening>('POST', '/v1/w3s/compliance/screening/addresses', {
          idempotencyKey: crypto.randomUUID(),
          ...values,
        })
        return { goTo: `/screenings/${data.id}` }
      },
    },
  ],
  hrefOf: (row) => `/screenings/${row.id}`,
  follows: () => true,
  empty: { text: 'No address was screened by request yet. What moves is screened by itself.' },
}

export const screening: DetailScreen<Screening> = {
  list: { title: 'Screenings', href: '/screenings' },
  pathOf: (screeningId) => `/operator/screenings/${screeningId}`,
  titleOf: ({ decision }) => decision?.ruleName ?? 'Screening',
  stateOf: ({ result }) => result,
  facts: [
    { title: 'Address', cell: (row) => address(row.address) },
    { title: 'Chain', cell: (row) => chain(row.chain) },
    { title: 'Actions', cell: ({ decision }) => text(decision?.actions.join(', ')) },
    {
      title: 'Risk',
      cell: ({ decision }) =>
        text(
          decision?.reasons
            ?.map(({ riskScore, riskCategories }) => [riskScore, ...riskCategories].join(' '))
            .join(', '),
        ),
    },
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
    { title: 'Decision', cell: ({ decision }) => json(decision) },
    { title: 'Details', cell: ({ details }) => json(details) },
  ],
}

export const reconciliations: ListScreen<Row> = {
  title: 'Reconcile',
  path: '/operator/reconciliations',
  columns: [
    { title: 'Found', cell: (row) => time(row['createDate'] as string), place: 'below' },
    { title: 'Address', cell: (row) => address(row['address'] as string), place: 'title' },
    { title: 'Chain', cell: (row) => chain(row['blockchain'] as string), place: 'below' },
    {
      title: 'Booked',
      isNumber: true,
      cell: (row) => amount(row['booked'] as string, row['symbol'] as string),
    },
    {
      title: 'On chain',
      isNumber: true,
      cell: (row) => amount(row['onChain'] as string, row['symbol'] as string),
    },
    {
      title: 'Gap',
      isNumber: true,
      place: 'amount',
      cell: (row) => amount(row['gap'] as string, row['symbol'] as string),
    },
    {
      title: 'State',
      cell: (row) => status(row['state'] as string, row['state'] === 'ended' ? 'good' : 'bad'),
      place: 'state',
    },
  ],
  filters: [
    { name: 'open', title: 'Open', options: ['true', 'false'] },
    { name: 'blockchain', title: 'Chain', options: blockchains },
  ],
  follows: () => true,
  empty: { text: 'The books equal the chains: no balance has ever differed.' },
}
