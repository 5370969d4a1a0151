import { ask } from '../api/ask.ts'
import { readAs } from '../api/user-token.ts'
import { wordsOf } from '../format/text.ts'
import { id, mono, status, text, time } from '../parts/cell.ts'
import {
  type Action,
  type Column,
  type DetailScreen,
  followsTypes,
  type ListScreen,
  type Row,
} from './screen.ts'
import { walletColumns } from './wallets.ts'

/** Facts about the wrong entries of a secret. */
type Guesses = {
  failedAttempts: number
  lockedDate?: string
  lockedExpiryDate?: string
  lastLockOverrideDate?: string
}
type User = Row & {
  status: string
  pinStatus: string
  pinDetails: Guesses
  securityQuestionStatus: string
  securityQuestionDetails: Guesses
  createDate: string
}

export const users: ListScreen<User> = {
  title: 'Users',
  path: '/v1/w3s/users',
  member: 'users',
  columns: [
    { title: 'User', cell: (each) => mono(each.id), place: 'title' },
    { title: 'PIN', cell: ({ pinStatus }) => status(pinStatus), place: 'state' },
    { title: 'Security questions', cell: (each) => status(each.securityQuestionStatus) },
    { title: 'State', cell: (each) => status(each.status), place: 'below' },
    { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
  ],
  hrefOf: (each) => `/users/${encodeURIComponent(each.id)}`,
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
  follows: followsTypes('user', 'challenge'),
  empty: {
    text: 'No users yet. Users open their wallets with a PIN that only they know.',
    trigger: 'challenge.initialize',
  },
}

/** The facts of a secret and of the lock that wrong entries cause; the last lock has no end. */
const lockOf = (
  what: string,
  of: (item: User) => { state: string; guesses: Guesses | undefined },
): DetailScreen<User>['facts'] => {
  const guesses = (item: User) => of(item).guesses
  return [
    { title: what, cell: (item) => status(of(item).state) },
    { title: `${what}: wrong entries`, cell: (item) => text(guesses(item)?.failedAttempts || undefined) },
    { title: `${what}: locked`, cell: (item) => time(guesses(item)?.lockedDate) },
    {
      title: `${what}: lock ends`,
      cell: (item) =>
        time(guesses(item)?.lockedExpiryDate) ??
        text(of(item).state === 'LOCKED' ? 'when an operator ends it' : undefined),
    },
    { title: `${what}: lock ended early`, cell: (item) => time(guesses(item)?.lastLockOverrideDate) },
  ]
}

const challengeColumns: readonly Column<Row>[] = [
  { title: 'Created', cell: (row) => time(row['createDate'] as string), place: 'below' },
  { title: 'Asks for', cell: (row) => text(wordsOf(row['type'] as string)), place: 'title' },
  { title: 'Id', cell: (row) => id(row.id) },
  { title: 'Expires', cell: (row) => time(row['expireDate'] as string), place: 'below' },
  {
    title: 'Made',
    cell: (row) => {
      const [made] = (row['correlationIds'] as string[] | undefined) ?? []
      return id(made, madeBy(row['type'] as string, made))
    },
  },
  { title: 'Error', cell: (row) => text(row['errorMessage'] as string | undefined) },
  { title: 'State', cell: (row) => status(row['status'] as string), place: 'state' },
]

/** The page of what came of a challenge: a wallet, or the transaction that was signed or changed. */
function madeBy(type: string, made: string | undefined): string | undefined {
  if (/INITIALIZE|CREATE_WALLET/.test(type)) return `/wallets/${made}`
  return /TRANSACTION$|EXECUTION|UPGRADE/.test(type) && type !== 'SIGN_TRANSACTION'
    ? `/movements/${made}`
    : undefined
}

const actOn = async ({ id: userId }: User, verb: string, told: string, body?: object) => {
  await ask('POST', `/operator/users/${encodeURIComponent(userId)}/${verb}`, body)
  return { told }
}

/** Ends the lock of a secret: offered where there is one, and where wrong entries have used up tries. */
const unlock = (
  title: string,
  secret: 'pin' | 'answers',
  of: (item: User) => { state: string; guesses: Guesses },
): Action<User> => ({
  title,
  icon: 'key-round',
  about:
    'Accepts it again at once, also after the last lock, which does not end by itself, and gives all tries back. Make sure that it is the user who asks.',
  typed: () => 'unlock',
  isOffered: (item) => of(item).state === 'LOCKED' || of(item).guesses.failedAttempts > 0,
  run: (item) => actOn(item, 'unlock', 'The lock is ended, and all tries are back.', { secret }),
})

const acts: readonly Action<User>[] = [
  unlock('Unlock the PIN', 'pin', (item) => ({ state: item.pinStatus, guesses: item.pinDetails })),
  unlock('Unlock the answers', 'answers', (item) => ({
    state: item.securityQuestionStatus,
    guesses: item.securityQuestionDetails,
  })),
  {
    title: 'Log out',
    icon: 'log-out',
    tone: 'danger',
    about:
      'Ends all sessions and tokens of the user, whose device was lost or stolen. No device approves until the user has logged in on it again and entered the recovery code.',
    typed: () => 'log out',
    run: (item) => actOn(item, 'logOut', 'The user is logged out.'),
  },
  {
    title: 'Disable',
    icon: 'lock',
    tone: 'danger',
    about: 'The user gets no more tokens, and those that exist do not count. Wallets and coins stay.',
    typed: () => 'disable',
    isOffered: ({ status: state }) => state === 'ENABLED',
    run: (item) => actOn(item, 'disable', 'The user is disabled.'),
  },
  {
    title: 'Enable',
    icon: 'check',
    tone: 'primary',
    about: 'The user gets tokens again.',
    typed: () => 'enable',
    isOffered: ({ status: state }) => state === 'DISABLED',
    run: (item) => actOn(item, 'enable', 'The user is enabled.'),
  },
]

export const user: DetailScreen<User> = {
  list: { title: 'Users', href: '/users' },
  pathOf: (userId) => `/v1/w3s/users/${encodeURIComponent(userId)}`,
  member: 'user',
  titleOf: (item) => item.id,
  stateOf: (item) => item.status,
  facts: [
    ...lockOf('PIN', (item) => ({ state: item.pinStatus, guesses: item.pinDetails })),
    ...lockOf('Security questions', (item) => ({
      state: item.securityQuestionStatus,
      guesses: item.securityQuestionDetails,
    })),
    { title: 'Created', cell: ({ createDate }) => time(createDate) },
  ],
  actions: acts,
  follows: () => followsTypes('user', 'userPin', 'userQuestions', 'challenge', 'wallet'),
  parts: [
    {
      title: 'Challenges',
      pathOf: (item) => `/operator/challenges?userId=${encodeURIComponent(item.id)}&pageSize=20`,
      columns: challengeColumns,
      empty: 'Nothing was asked of the user yet.',
    },
    {
      title: 'Wallets',
      pathOf: () => '/v1/w3s/wallets?pageSize=20',
      readerOf: (item) => readAs(item.id),
      member: 'wallets',
      columns: walletColumns as readonly Column<Row>[],
      hrefOf: (row) => `/wallets/${row.id}`,
      empty: 'The user has no wallets yet.',
    },
  ],
}
