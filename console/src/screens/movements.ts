import type { Movement } from '../api/types.ts'
import { amount, chain, duration, status, time } from '../parts/cell.ts'
import { blockchains } from './choices.ts'
import { kindOf, movementKinds } from './kinds.ts'
import type { Column, ListScreen, Row } from './screen.ts'

type MovementRow = Row & Movement

export const movementColumns: readonly Column<MovementRow>[] = [
  { title: 'Time', cell: ({ createDate }) => time(createDate), place: 'below' },
  { title: 'Kind', cell: kindOf, place: 'title' },
  {
    title: 'Amount',
    isNumber: true,
    place: 'amount',
    cell: ({ amounts, symbol, currency, direction }) => amount(amounts?.[0], symbol ?? currency, direction),
  },
  { title: 'From → to', cell: ({ from, to }) => ({ as: 'parties', from, to }) },
  { title: 'Chain', cell: ({ blockchain }) => chain(blockchain), place: 'below' },
  {
    title: 'State',
    cell: ({ state, phase }) => status(state, phase === 'stuck' ? 'warn' : undefined),
    place: 'state',
  },
  { title: 'Took', isNumber: true, cell: ({ tookMs }) => duration(tookMs) },
]

/** Movements change with nearly every event. */
export const followsMovements = () => true

export const movements: ListScreen<MovementRow> = {
  title: 'Movements',
  path: '/operator/movements',
  columns: movementColumns,
  hrefOf: ({ id }) => `/movements/${id}`,
  follows: followsMovements,
  filters: [
    {
      name: 'kind',
      title: 'Kind',
      options: movementKinds,
    },
    { name: 'phase', title: 'Phase', options: ['open', 'stuck', 'done', 'failed'] },
    { name: 'blockchain', title: 'Chain', options: blockchains },
    { name: 'address', title: 'Address' },
    { name: 'txHash', title: 'Transaction hash' },
  ],
  empty: { text: 'No money has moved yet.', trigger: 'payment.paid' },
}
