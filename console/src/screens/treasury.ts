import { ask } from '../api/ask.ts'
import type { RebalancingPolicy } from '../api/types.ts'
import { amount, chain, money, status, text, time } from '../parts/cell.ts'
import { type Action, type Column, type Field, followsTypes, type Row } from './screen.ts'

export const followsTreasury = followsTypes(
  'rebalancing',
  'payout',
  'transfer',
  'refund',
  'payment',
  'deposit',
)

type Waiting = Row & {
  kind: string
  amount: { amount: string; currency: string }
  waitingFor?: { reason: string; message: string }
  createDate: string
}

export const waitingColumns: readonly Column<Waiting>[] = [
  { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
  { title: 'What', cell: ({ kind }) => text(kind), place: 'title' },
  { title: 'Amount', isNumber: true, cell: (row) => money(row.amount), place: 'amount' },
  { title: 'Waits for', cell: ({ waitingFor }) => status(waitingFor?.reason, 'warn'), place: 'state' },
  { title: 'What brings it', cell: ({ waitingFor }) => text(waitingFor?.message), place: 'below' },
]

type Rebalancing = Row & {
  status: string
  amount: string
  fromBlockchain: string
  toBlockchain: string
  errorReason?: string
  createDate: string
}

export const rebalancingColumns: readonly Column<Rebalancing>[] = [
  { title: 'Created', cell: ({ createDate }) => time(createDate), place: 'below' },
  { title: 'From', cell: ({ fromBlockchain }) => chain(fromBlockchain), place: 'title' },
  { title: 'To', cell: ({ toBlockchain }) => chain(toBlockchain), place: 'title' },
  { title: 'Amount', isNumber: true, cell: (row) => amount(row.amount, 'USDC'), place: 'amount' },
  { title: 'Error', cell: ({ errorReason }) => text(errorReason), place: 'below' },
  { title: 'State', cell: (row) => status(row.status), place: 'state' },
]

const set = (body: object) => ask('PUT', '/operator/rebalancingPolicy', body)

const limits = ({ max, reserve }: RebalancingPolicy): readonly Field[] => [
  { name: 'max', title: 'At most', hint: 'The most USDC that one message moves', value: max },
  {
    name: 'reserve',
    title: 'Reserve',
    hint: 'USDC that stays on the chain that the coins leave, besides what its own payments need',
    value: reserve,
    isOptional: true,
  },
]

/** The acts that a policy offers. */
export const rebalancingActs = (policy: RebalancingPolicy): readonly Action<undefined>[] => [
  {
    title: 'Allow moving coins',
    icon: 'check',
    tone: 'primary',
    isOffered: () => !policy.allowed,
    about:
      'Lets the treasury move USDC to a chain where payouts, transfers and refunds lack it: it burns coins on another chain and mints them there.',
    typed: () => 'allow',
    fields: limits(policy),
    async run(_, values) {
      await set({ allowed: true, ...values })
      return { told: 'Coins may be moved between chains.' }
    },
  },
  {
    title: 'Change the limits',
    icon: 'pen-line',
    isOffered: () => policy.allowed,
    about: 'Changes what one message may move, also for what is not burned yet.',
    typed: () => 'change',
    fields: limits(policy),
    async run(_, values) {
      await set({ allowed: true, ...values })
      return { told: 'The limits are changed.' }
    },
  },
  {
    title: 'Forbid moving coins',
    icon: 'x',
    tone: 'danger',
    isOffered: () => policy.allowed,
    about:
      'Ends what is not burned yet. Burned coins are minted anyway. Payments that lack coins on their chain wait, and fail after 24 hours.',
    typed: () => 'forbid',
    async run() {
      await set({ allowed: false })
      return { told: 'No more coins are moved between chains.' }
    },
  },
]
