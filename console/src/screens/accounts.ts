import { address, chain, id, mono, text, time } from '../parts/cell.ts'
import type { Column, DetailScreen, ListScreen, Row } from './screen.ts'

export const accounts: ListScreen<Row> = {
  title: 'Accounts',
  path: '/operator/accounts',
  columns: [
    { title: 'Account', cell: (row) => text(row['kind'] as string), place: 'title' },
    { title: 'Address', cell: (row) => address(row['address'] as string | undefined), place: 'below' },
    { title: 'Chain', cell: (row) => chain(row['blockchain'] as string | undefined), place: 'below' },
    {
      title: 'Posted',
      isNumber: true,
      place: 'amount',
      cell: (row) => ({
        as: 'amount',
        amount: row['posted'] as string,
        unit: row['currency'] as string | undefined,
      }),
    },
    { title: 'Held', isNumber: true, cell: (row) => ({ as: 'amount', amount: row['held'] as string }) },
    {
      title: 'Available',
      isNumber: true,
      cell: (row) => ({ as: 'amount', amount: row['available'] as string }),
    },
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
  {
    title: 'Amount',
    isNumber: true,
    place: 'amount',
    cell: (row) => ({ as: 'amount', amount: row['amount'] as string }),
  },
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
    { title: 'Posted', cell: (item) => text(item['posted'] as string | undefined) },
    { title: 'Held', cell: (item) => text(item['held'] as string | undefined) },
    { title: 'Available', cell: (item) => text(item['available'] as string | undefined) },
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
