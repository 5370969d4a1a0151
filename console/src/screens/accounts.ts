import { address, amount, chain, id, mono, text, time } from '../parts/cell.ts'
import type { Column, DetailScreen, ListScreen, Row } from './screen.ts'

/** An amount of a row in the token or the currency of its account. */
const amountIn = (row: Row, name: string) =>
  amount(row[name] as string | undefined, (row['symbol'] ?? row['currency']) as string | undefined)

export const accounts: ListScreen<Row> = {
  title: 'Accounts',
  path: '/operator/accounts',
  columns: [
    { title: 'Account', cell: (row) => text(row['kind'] as string), place: 'title' },
    { title: 'Address', cell: (row) => address(row['address'] as string | undefined), place: 'below' },
    { title: 'Chain', cell: (row) => chain(row['blockchain'] as string | undefined), place: 'below' },
    { title: 'Posted', isNumber: true, place: 'amount', cell: (row) => amountIn(row, 'posted') },
    { title: 'Held', isNumber: true, cell: (row) => amountIn(row, 'held') },
    { title: 'Available', isNumber: true, cell: (row) => amountIn(row, 'available') },
  ],
  hrefOf: (row) => `/accounts/${row.id}`,
  filters: [
    { name: 'kind', title: 'Kind' },
    { name: 'address', title: 'Address', placeholder: 'Address, in lower case' },
    { name: 'tokenId', title: 'Token id' },
  ],
  follows: () => true,
  empty: { text: 'The books have no accounts yet.' },
}

export const entryColumns: readonly Column<Row>[] = [
  { title: 'Created', cell: (row) => time(row['createDate'] as string), place: 'below' },
  { title: 'Fact', cell: (row) => mono(row['fact'] as string), place: 'title' },
  { title: 'Amount', isNumber: true, place: 'amount', cell: (row) => amountIn(row, 'amount') },
  { title: 'Block', cell: (row) => mono((row['blockHash'] as string | undefined)?.slice(0, 14)) },
  { title: 'Takes back', cell: (row) => id(row['reversesId'] as string | undefined), place: 'state' },
]

export const account: DetailScreen<Row> = {
  list: { title: 'Accounts', href: '/accounts' },
  pathOf: (accountId) => `/operator/accounts/${accountId}`,
  titleOf: (item) => (item['kind'] ? `Account ${item['kind']}` : 'Account'),
  facts: [
    { title: 'Address', cell: (item) => address(item['address'] as string | undefined) },
    { title: 'Chain', cell: (item) => chain(item['blockchain'] as string | undefined) },
    { title: 'Posted', cell: (item) => amountIn(item, 'posted') },
    { title: 'Held', cell: (item) => amountIn(item, 'held') },
    { title: 'Available', cell: (item) => amountIn(item, 'available') },
  ],
  follows: () => () => true,
  parts: [
    {
      title: 'Entries',
      pathOf: (item) => `/operator/accounts/${item.id}/entries?pageSize=20`,
      columns: entryColumns,
      empty: 'Nothing was booked yet.',
    },
  ],
}
