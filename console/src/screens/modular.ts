import { address, amount, chain, id, mono, status, text, time } from '../parts/cell.ts'
import { blockchains } from './choices.ts'
import { movementColumns } from './movements.ts'
import { type Column, type DetailScreen, followsTypes, type ListScreen, type Row } from './screen.ts'
import { balanceColumns } from './wallets.ts'

const follows = followsTypes('userOperation', 'modularTransfer', 'modularWallet')

export const modularWallets: ListScreen<Row> = {
  title: 'Modular wallets',
  about: 'Smart accounts that pages of your app open by passkeys.',
  path: '/operator/modularWallets',
  columns: [
    { title: 'Created', cell: (row) => time(row['createDate'] as string), place: 'below' },
    { title: 'Address', cell: (row) => address(row['address'] as string), place: 'title' },
    { title: 'Chain', cell: (row) => chain(row['blockchain'] as string), place: 'below' },
    { title: 'Name', cell: (row) => text(row['name'] as string | undefined), place: 'below' },
  ],
  filters: [
    { name: 'blockchain', title: 'Chain', options: blockchains },
    { name: 'address', title: 'Address' },
  ],
  hrefOf: (row) => `/modular-wallets/${row['blockchain']}/${row['address']}`,
  follows,
  empty: { text: 'No page has opened a modular wallet yet.', trigger: 'modularWallet.inboundTransfer' },
}

/** A wallet as its page is asked for: by its chain and address, or by its id, which is all that a search knows. */
type ModularWallet = Row & { blockchain?: string; address?: string }

function walletOf(walletId: string): ModularWallet {
  const [, blockchain, account] = /^([^/]+)\/(.+)$/.exec(walletId) ?? []
  return { id: walletId, blockchain, address: account }
}

const transferColumns: readonly Column<Row>[] = [
  { title: 'Created', cell: (row) => time(row['createDate'] as string), place: 'below' },
  {
    title: 'Amount',
    isNumber: true,
    place: 'amount',
    cell: (row) =>
      amount(row['amount'] as string, '', row['transferType'] === 'INBOUND_TRANSFER' ? 'in' : 'out'),
  },
  {
    title: 'From → to',
    place: 'title',
    cell: (row) => ({
      as: 'parties',
      from: { address: row['from'] as string },
      to: { address: row['to'] as string },
    }),
  },
  { title: 'Token', cell: (row) => address(row['tokenAddress'] as string | undefined), place: 'below' },
  { title: 'Block', isNumber: true, cell: (row) => text(row['blockHeight'] as number) },
  { title: 'State', cell: (row) => status(row['state'] as string), place: 'state' },
]

type UserOperation = Row & {
  blockchain: string
  state: string
  userOpHash: string
  userOperation: { sender: string }
  txHash?: string
  actualGasCost?: string
  createDate: string
}

const operationColumns: readonly Column<UserOperation>[] = [
  { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
  { title: 'Sender', cell: ({ userOperation }) => address(userOperation.sender), place: 'title' },
  { title: 'Chain', cell: ({ blockchain }) => chain(blockchain), place: 'below' },
  { title: 'Operation', cell: ({ userOpHash }) => id(userOpHash) },
  { title: 'Transaction', cell: ({ txHash }) => id(txHash) },
  { title: 'Gas cost', isNumber: true, cell: ({ actualGasCost }) => mono(actualGasCost) },
  { title: 'State', cell: ({ state }) => status(state), place: 'state' },
]

const queryOf = ({ blockchain, address: account }: ModularWallet, name: string) =>
  account && `${name}=${account}&blockchain=${blockchain}&pageSize=20`

export const modularWallet: DetailScreen<ModularWallet> = {
  list: { title: 'Modular wallets', href: '/modular-wallets' },
  pathOf: (walletId) => `/v1/w3s/modular/wallets/${walletId}/balances`,
  itemOf: (_, walletId) => walletOf(walletId),
  titleOf: () => 'Modular wallet',
  facts: [
    { title: 'Address', cell: (item) => address(item.address) },
    { title: 'Chain', cell: ({ blockchain }) => chain(blockchain) },
    { title: 'Id', cell: (item) => id(item.address ? undefined : item.id) },
  ],
  follows: () => follows,
  parts: [
    {
      title: 'Balances',
      pathOf: (item) => `/v1/w3s/modular/wallets/${item.id}/balances?includeAll=true&pageSize=20`,
      member: 'tokenBalances',
      columns: balanceColumns,
      empty: 'This wallet has no tokens yet.',
    },
    {
      title: 'User operations',
      pathOf: (item) => {
        const query = queryOf(item, 'senders')
        return query && `/v1/w3s/modular/userOps?${query}`
      },
      member: 'userOperations',
      columns: operationColumns as readonly Column<Row>[],
      hrefOf: (row) => `/movements/${row.id}`,
      empty: 'This wallet has sent no operation yet.',
    },
    {
      title: 'Transfers',
      pathOf: (item) => {
        const query = queryOf(item, 'walletAddresses')
        return query && `/v1/w3s/modular/transfers?${query}`
      },
      member: 'transfers',
      columns: transferColumns,
      hrefOf: (row) => `/movements/${row.id}`,
      empty: 'This wallet has no transfers yet.',
    },
    {
      title: 'Movements',
      pathOf: (item) => (item.address ? undefined : `/operator/movements?walletId=${item.id}&pageSize=20`),
      columns: movementColumns as readonly Column<Row>[],
      hrefOf: (row) => `/movements/${row.id}`,
      empty: 'Nothing has moved yet.',
    },
  ],
}

export const userOperations: ListScreen<UserOperation> = {
  title: 'User operations',
  path: '/v1/w3s/modular/userOps',
  member: 'userOperations',
  columns: operationColumns,
  hrefOf: (row) => `/movements/${row.id}`,
  filters: [
    { name: 'state', title: 'State', options: ['SENT', 'CONFIRMED', 'COMPLETE', 'FAILED'] },
    { name: 'senders', title: 'Sender' },
    { name: 'txHash', title: 'Transaction hash' },
    { name: 'userOpHash', title: 'Operation hash' },
  ],
  follows,
  empty: {
    text: 'No user operations yet. Pages with passkeys send them to the JSON-RPC endpoint.',
    trigger: 'modularWallet.userOperation',
  },
}
