import { ask } from '../api/ask.ts'
import { address, amount, chain, id, json, mono, status, text, time } from '../parts/cell.ts'
import { blockchains } from './choices.ts'
import { type Action, type DetailScreen, followsTypes, type ListScreen, type Row } from './screen.ts'

type Review = Row & {
  resource: { kind?: string; id?: string } | string
  state: string
  ruleName: string
  blockchain?: string
  amount?: string
  token?: string
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
  filters: [{ name: 'state', title: 'State', options: ['pending', 'approved', 'denied'] }],
  follows: () => true,
  empty: { text: 'Nothing waits for a decision.', trigger: 'payout.review' },
}

const decide = (verb: 'approve' | 'deny'): Action<Review> => ({
  title: verb === 'approve' ? 'Approve' : 'Deny',
  icon: verb === 'approve' ? 'check' : 'x',
  tone: verb === 'approve' ? 'primary' : 'danger',
  isOffered: ({ state }) => state === 'pending',
  about:
    verb === 'approve'
      ? 'Lets the money go. It cannot be taken back.'
      : 'Ends it: the money stays, and what was held is free again.',
  typed: () => verb,
  fields: [{ name: 'reason', title: 'Reason', hint: 'It is kept in the audit trail.', isOptional: true }],
  async run(item, { reason }) {
    await ask('POST', `/operator/reviews/${item.id}/${verb}`, reason ? { reason } : {})
    return { told: verb === 'approve' ? 'The review is approved.' : 'The review is denied.' }
  },
})

export const review: DetailScreen<Review> = {
  list: { title: 'Reviews', href: '/reviews' },
  pathOf: () => '/operator/reviews?pageSize=50',
  titleOf: ({ ruleName }) => ruleName,
  stateOf: ({ state }) => state,
  facts: [
    { title: 'Amount', cell: (item) => amount(item.amount, item.token) },
    { title: 'Chain', cell: ({ blockchain }) => chain(blockchain) },
    { title: 'From', cell: ({ sourceAddress }) => address(sourceAddress) },
    { title: 'To', cell: ({ destinationAddress }) => address(destinationAddress) },
    { title: 'First approver', cell: ({ firstApprover }) => mono(firstApprover) },
    { title: 'Decided by', cell: ({ decidedBy }) => mono(decidedBy) },
    { title: 'Reason', cell: ({ reason }) => text(reason) },
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
  ],
  actions: [decide('approve'), decide('deny')],
  follows: () => () => true,
}

export const screenings: ListScreen<Row> = {
  title: 'Screenings',
  path: '/operator/screenings',
  columns: [
    { title: 'Created', cell: (row) => time(row['createDate'] as string), place: 'below' },
    { title: 'Address', cell: (row) => address(row['address'] as string), place: 'title' },
    { title: 'Chain', cell: (row) => chain(row['chain'] as string), place: 'below' },
    { title: 'Rule', cell: (row) => text((row['decision'] as { ruleName?: string } | undefined)?.ruleName) },
    { title: 'Result', cell: (row) => status(row['result'] as string), place: 'state' },
  ],
  filters: [
    { name: 'result', title: 'Result', options: ['APPROVED', 'DENIED', 'REVIEW'] },
    { name: 'chain', title: 'Chain', options: blockchains },
    { name: 'address', title: 'Address' },
  ],
  hrefOf: (row) => `/screenings/${row.id}`,
  follows: () => true,
  empty: { text: 'No address was screened yet.' },
}

export const screening: DetailScreen = {
  list: { title: 'Screenings', href: '/screenings' },
  pathOf: () => '/operator/screenings?pageSize=50',
  titleOf: () => 'Screening',
  stateOf: (row) => row['result'] as string | undefined,
  facts: [
    { title: 'Address', cell: (row) => address(row['address'] as string | undefined) },
    { title: 'Chain', cell: (row) => chain(row['chain'] as string | undefined) },
    { title: 'Created', cell: (row) => time(row['createDate'] as string | undefined) },
    { title: 'Decision', cell: (row) => json(row['decision']) },
    { title: 'Details', cell: (row) => json(row['details']) },
  ],
}

const policyDecisionColumns: ListScreen['columns'] = [
  { title: 'Created', cell: (row) => time(row['createDate'] as string), place: 'below' },
  { title: 'Operation', cell: (row) => text(row['operation'] as string), place: 'title' },
  {
    title: 'Wallet',
    cell: (row) => id(row['walletId'] as string, `/wallets/${row['walletId']}`),
    place: 'below',
  },
  {
    title: 'Movement',
    cell: (row) => id(row['intentId'] as string, `/movements/${row['intentId']}`),
    place: 'state',
  },
]

export const policies: ListScreen<Row> = {
  title: 'Policy',
  path: '/operator/policies',
  columns: [
    { title: 'Created', cell: (row) => time(row['createDate'] as string), place: 'below' },
    { title: 'Scope', cell: (row) => text(row['scope'] as string), place: 'title' },
    { title: 'Subject', cell: (row) => id(row['subjectId'] as string), place: 'below' },
    { title: 'Version', isNumber: true, cell: (row) => text(row['version'] as number), place: 'amount' },
    { title: 'Rules', cell: (row) => json(row['rules']) },
    { title: 'By', cell: (row) => mono(row['actor'] as string) },
    {
      title: 'State',
      cell: (row) => status(row['inForce'] ? 'in force' : 'replaced', row['inForce'] ? 'good' : 'idle'),
      place: 'state',
    },
  ],
  filters: [
    { name: 'inForce', title: 'In force', options: ['true', 'false'] },
    { name: 'subjectId', title: 'Subject id' },
  ],
  hrefOf: (row) => `/policy/${row.id}`,
  follows: followsTypes('policy'),
  empty: { text: 'No policies: every key may sign everything.', command: 'bezant policy --help' },
}

export const policy: DetailScreen = {
  list: { title: 'Policy', href: '/policy' },
  pathOf: () => '/operator/policies?pageSize=50',
  titleOf: (row) => (row['scope'] ? `Policy of the ${row['scope']}, version ${row['version']}` : 'Policy'),
  stateOf: (row) => (row['inForce'] ? 'in force' : 'replaced'),
  facts: [
    { title: 'Subject', cell: (row) => id(row['subjectId'] as string | undefined) },
    { title: 'By', cell: (row) => mono(row['actor'] as string | undefined) },
    { title: 'Created', cell: (row) => time(row['createDate'] as string | undefined) },
    { title: 'Rules', cell: (row) => json(row['rules']) },
  ],
  parts: [
    {
      title: 'Decisions',
      pathOf: (row) =>
        row['scope'] === 'wallet'
          ? `/operator/policyDecisions?walletId=${row['subjectId']}&pageSize=20`
          : '/operator/policyDecisions?pageSize=20',
      columns: policyDecisionColumns,
      empty: 'Nothing was decided yet.',
    },
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
