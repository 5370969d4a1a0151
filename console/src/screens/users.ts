import { ask } from '../api/ask.ts'
import { address, chain, mono, status, time } from '../parts/cell.ts'
import type { DetailScreen, ListScreen, Row } from './screen.ts'

export const users: ListScreen<Row> = {
  title: 'Users',
  path: '/v1/w3s/users',
  member: 'users',
  columns: [
    { title: 'User', cell: (user) => mono(user.id), place: 'title' },
    { title: 'PIN', cell: (user) => status(user['pinStatus'] as string), place: 'state' },
    { title: 'Security questions', cell: (user) => status(user['securityQuestionStatus'] as string) },
    { title: 'State', cell: (user) => status(user['status'] as string), place: 'below' },
    { title: 'Created', cell: (user) => time(user['createDate'] as string), place: 'below' },
  ],
  hrefOf: (user) => `/users/${encodeURIComponent(user.id)}`,
  filters: [
    { name: 'pinStatus', title: 'PIN', options: ['ENABLED', 'UNSET', 'LOCKED'] },
    { name: 'securityQuestionStatus', title: 'Questions', options: ['ENABLED', 'UNSET', 'LOCKED'] },
  ],
  actions: [
    {
      title: 'Create a user',
      icon: 'plus',
      tone: 'primary',
      fields: [{ name: 'userId', title: 'User id', hint: 'Yours, of 5 to 50 characters' }],
      async run(_, { userId }) {
        await ask('POST', '/v1/w3s/users', { userId })
        return { told: 'The user is created.' }
      },
    },
  ],
  empty: {
    text: 'No users yet. Users open their wallets with a PIN that only they know.',
    trigger: 'challenges.initialize',
  },
}

export const user: DetailScreen<Row> = {
  list: { title: 'Users', href: '/users' },
  pathOf: (userId) => `/v1/w3s/users/${encodeURIComponent(userId)}`,
  member: 'user',
  titleOf: (item) => item.id,
  stateOf: (item) => item['status'] as string,
  facts: [
    { title: 'PIN', cell: (item) => status(item['pinStatus'] as string) },
    { title: 'Security questions', cell: (item) => status(item['securityQuestionStatus'] as string) },
    { title: 'Created', cell: (item) => time(item['createDate'] as string) },
  ],
}

export const userOperations: ListScreen<Row> = {
  title: 'User operations',
  path: '/v1/w3s/buidl/userOps',
  member: 'userOperations',
  columns: [
    { title: 'Created', cell: (row) => time(row['createDate'] as string), place: 'below' },
    { title: 'Sender', cell: (row) => address(row['sender'] as string), place: 'title' },
    { title: 'Chain', cell: (row) => chain(row['blockchain'] as string), place: 'below' },
    { title: 'Operation', cell: (row) => mono((row['userOpHash'] as string | undefined)?.slice(0, 14)) },
    { title: 'State', cell: (row) => status(row['state'] as string), place: 'state' },
  ],
  hrefOf: (row) => `/movements/${row.id}`,
  filters: [
    { name: 'state', title: 'State', options: ['SENT', 'CONFIRMED', 'COMPLETE', 'FAILED'] },
    { name: 'txHash', title: 'Transaction hash' },
  ],
  follows: () => true,
  empty: {
    text: 'No user operations yet. Pages with passkeys send them to the JSON-RPC endpoint.',
    trigger: 'modularWallet.userOperation',
  },
}
