import { ask, pathWith } from '../api/ask.ts'
import { plural } from '../format/text.ts'
import { address, money, mono, status, text, time, wholeText } from '../parts/cell.ts'
import type { Action, Column, DetailScreen, ListScreen, Row } from './screen.ts'

type Money = { amount?: string; currency?: string }

type Batch = Row & {
  name: string
  state: string
  contentHash: string
  hasSenders: boolean
  notices: readonly string[]
  uploadedBy: string
  approvedBy?: string
  rowCount: number
  errorCount: number
  warningCount: number
  createdCount: number
  failedCount: number
  waitingCount: number
  totals?: readonly { chain: string; rowCount: number; amount: Money }[]
  funds?: readonly { total: Money; available: Money; suffices: boolean }[]
  fees?: readonly { blockchain: string; symbol: string; atMost?: string; owned: string }[]
  createDate: string
}

const columns = 'recipient,address,chain,amount,currency,reference'

export const payoutBatches: ListScreen<Batch> = {
  title: 'Payout files',
  about:
    'Many payouts at once, from a CSV file. Nothing is paid before what was understood of it is approved.',
  path: '/operator/payoutBatches',
  columns: [
    { title: 'Uploaded', cell: ({ createDate }) => time(createDate), place: 'below' },
    { title: 'Name', cell: ({ name }) => text(name), place: 'title' },
    { title: 'Rows', isNumber: true, cell: ({ rowCount }) => text(rowCount) },
    { title: 'Errors', isNumber: true, cell: ({ errorCount }) => text(errorCount || undefined) },
    { title: 'Payouts', isNumber: true, cell: ({ createdCount }) => text(createdCount), place: 'amount' },
    { title: 'Failed', isNumber: true, cell: ({ failedCount }) => text(failedCount || undefined) },
    { title: 'State', cell: ({ state }) => status(state), place: 'state' },
  ],
  filters: [{ name: 'state', title: 'State', options: ['previewed', 'approved', 'complete', 'cancelled'] }],
  hrefOf: ({ id }) => `/payout-files/${id}`,
  follows: ({ type }) => type.startsWith('payoutBatch.'),
  actions: [
    {
      title: 'Upload payouts',
      icon: 'upload',
      tone: 'primary',
      about: `The first row names the columns, among ${columns}. Each row names a recipient of the address book by its id, or by chain and address.`,
      fields: [
        { name: 'name', title: 'Name', hint: 'What the payouts are for' },
        { name: 'csv', title: 'CSV', isLong: true, files: '.csv,text/csv' },
      ],
      async run(_, { name, csv }) {
        const body = { idempotencyKey: crypto.randomUUID(), name, csv }
        const { data } = await ask<{ id: string }>('POST', '/operator/payoutBatches', body)
        return { goTo: `/payout-files/${data.id}` }
      },
    },
  ],
  empty: { text: 'No file of payouts was uploaded yet.' },
}

const sum = ({ amount = '', currency = '' }: Money) => `${amount} ${currency}`

const approve: Action<Batch> = {
  title: 'Approve',
  icon: 'check',
  tone: 'primary',
  about: 'Pays every row of this file, as it is shown here. What is sent cannot be taken back.',
  typed: () => 'approve',
  isOffered: ({ state, errorCount }) => state === 'previewed' && errorCount === 0,
  preview: {
    title: 'What is paid',
    async run({ totals = [], funds = [] }) {
      return [
        ...totals.map(
          (each) => `${plural(each.rowCount, 'payout', 'payouts')} on ${each.chain}: ${sum(each.amount)}`,
        ),
        ...funds.map(
          ({ total, available, suffices }) =>
            `${suffices ? 'There is' : 'There is only'} ${sum(available)} for ${sum(total)}.`,
        ),
      ].join('\n')
    },
  },
  async run({ id, contentHash, rowCount }) {
    await ask('POST', `/operator/payoutBatches/${id}/approve`, { contentHash })
    return { told: `${plural(rowCount, 'payout is', 'payouts are')} on the way.` }
  },
}

const cancel: Action<Batch> = {
  title: 'Cancel',
  icon: 'x',
  tone: 'danger',
  about: 'Rows that are no payouts yet never become any. Payouts that exist go on.',
  isOffered: ({ state }) => state === 'previewed' || state === 'approved',
  async run({ id }) {
    await ask('POST', `/operator/payoutBatches/${id}/cancel`)
    return { told: 'The file is cancelled.' }
  },
}

type BatchRow = Row & {
  row: number
  state: string
  cells: Record<string, string>
  problems: readonly { column: string; severity: string; message: string }[]
  address?: string
  chain?: string
  amount?: Money
  reference?: string
  error?: { message: string }
  payout?: { status: string; errorCode?: string }
}

/** The worst problem of a row. */
const worst = ({ problems }: BatchRow) => problems.find(({ severity }) => severity === 'error') ?? problems[0]

const problemTexts = ({ problems }: BatchRow) =>
  problems.map(({ column, message }) => (column === 'row' ? message : `${column}: ${message}`))

const rowColumns: readonly Column<BatchRow>[] = [
  { title: 'Row', isNumber: true, cell: ({ row }) => text(row), place: 'below' },
  {
    title: 'To',
    cell: ({ address: to, cells }) => (to ? address(to) : text(cells['recipient'] || cells['address'])),
    place: 'title',
  },
  { title: 'Chain', cell: ({ chain, cells }) => text(chain ?? cells['chain']), place: 'below' },
  {
    title: 'Amount',
    isNumber: true,
    cell: ({ amount, cells }) =>
      amount ? money(amount, 'out') : text(`${cells['amount'] ?? ''} ${cells['currency'] ?? ''}`.trim()),
    place: 'amount',
  },
  { title: 'Reference', cell: ({ reference }) => text(reference), place: 'below' },
  {
    title: 'Look at',
    cell: (row) => {
      return text(row.error?.message ?? row.payout?.errorCode ?? problemTexts(row)[0])
    },
    place: 'below',
  },
  {
    title: 'State',
    cell: (row) => {
      const found = row.state === 'waiting' ? worst(row) : undefined
      if (found) return status(found.severity, found.severity === 'error' ? 'bad' : 'warn')
      return status(row.payout?.status ?? row.state)
    },
    place: 'state',
  },
]

const problemColumns: readonly Column<BatchRow>[] = [
  rowColumns[0]!,
  {
    title: 'What to look at',
    cell: (row) => wholeText(problemTexts(row).join('; ')),
    place: 'title',
  },
  rowColumns.at(-1)!,
]

/** As columns of a part, which knows its rows as any resource. */
const ofPart = (columns: readonly Column<BatchRow>[]) => columns as readonly Column<Row>[]

const hrefOfRow = (row: Row) => (row['payout'] ? `/movements/${row.id}` : '')

const rowsOf = (id: string, query: Record<string, string>) =>
  pathWith(`/operator/payoutBatches/${id}/rows`, { order: 'ASC', pageSize: '20', ...query })

export const payoutBatch: DetailScreen<Batch> = {
  list: { title: 'Payout files', href: '/payout-files' },
  pathOf: (id) => `/operator/payoutBatches/${id}`,
  titleOf: ({ name }) => name,
  stateOf: ({ state }) => state,
  facts: [
    {
      title: 'Pays',
      cell: ({ totals = [] }) =>
        text(totals.map(({ chain, amount }) => `${sum(amount)} on ${chain}`).join(', ')),
    },
    {
      title: 'Available',
      cell: ({ funds = [], state }) =>
        state !== 'previewed'
          ? undefined
          : text(
              funds
                .map(
                  ({ available, total, suffices }) =>
                    `${sum(available)}${suffices ? '' : `, too little for ${sum(total)}`}`,
                )
                .join(', '),
            ),
    },
    {
      title: 'Network fees',
      cell: ({ fees = [], state }) =>
        state !== 'previewed'
          ? undefined
          : text(
              fees
                .flatMap(({ atMost, symbol, owned }) =>
                  atMost ? [`at most ${atMost} ${symbol}, of which the treasury has ${owned}`] : [],
                )
                .join('; '),
            ),
    },
    {
      title: 'Rows',
      cell: ({ rowCount, errorCount, warningCount }) =>
        text(
          [
            String(rowCount),
            ...(errorCount > 0 ? [`${errorCount} with errors`] : []),
            ...(warningCount > 0 ? [`${warningCount} to look at`] : []),
          ].join(', '),
        ),
    },
    {
      title: 'Progress',
      cell: ({ createdCount, failedCount, waitingCount, state }) =>
        state === 'previewed'
          ? undefined
          : text(`${createdCount} payouts, ${failedCount} failed, ${waitingCount} not created`),
    },
    { title: 'Found', cell: ({ notices }) => text(notices.join(' ')) },
    { title: 'Uploaded by', cell: ({ uploadedBy }) => mono(uploadedBy) },
    { title: 'Approved by', cell: ({ approvedBy }) => mono(approvedBy) },
    { title: 'Uploaded', cell: ({ createDate }) => time(createDate) },
    { title: 'Content hash', cell: ({ contentHash }) => mono(contentHash) },
  ],
  actions: [approve, cancel],
  follows:
    (id) =>
    ({ resourceId, type }) =>
      resourceId === id || type.startsWith('payout.'),
  parts: [
    {
      title: 'To look at',
      pathOf: ({ id, errorCount, warningCount, state }) =>
        state === 'previewed' && errorCount + warningCount > 0
          ? rowsOf(id, { hasProblem: 'true' })
          : undefined,
      columns: ofPart(problemColumns),
      empty: 'Nothing is wrong with any row.',
    },
    {
      title: 'Rows',
      pathOf: ({ id }) => rowsOf(id, {}),
      columns: ofPart(rowColumns),
      hrefOf: hrefOfRow,
      empty: 'There are no rows.',
    },
  ],
}
