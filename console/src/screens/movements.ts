import type { Movement } from '../api/types.ts'
import { amount, chain, duration, status, time } from '../parts/cell.ts'
import { blockchains } from './choices.ts'
import { kindOf, movementKinds } from './kinds.ts'
import type { Column, Filter, ListScreen, Row } from './screen.ts'

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

const filters: readonly Filter[] = [
  { name: 'phase', title: 'Phase', options: ['open', 'stuck', 'done', 'failed'] },
  { name: 'blockchain', title: 'Chain', options: blockchains },
  { name: 'address', title: 'Address' },
  { name: 'txHash', title: 'Transaction hash' },
]

export const movements: ListScreen<MovementRow> = {
  title: 'Movements',
  path: '/operator/movements',
  columns: movementColumns,
  hrefOf: ({ id }) => `/movements/${id}`,
  follows: followsMovements,
  filters: [{ name: 'kind', title: 'Kind', options: movementKinds }, ...filters],
  empty: { text: 'No money has moved yet.', trigger: 'payment.paid' },
}

/** Movements of one kind, as a list of their own. */
export const movementsOf = (
  kind: Movement['kind'],
  own: Pick<ListScreen<MovementRow>, 'title' | 'about' | 'empty'> & Partial<ListScreen<MovementRow>>,
): ListScreen<MovementRow> => ({ ...movements, query: { kind }, filters, ...own })

export const sweeps = movementsOf('sweep', {
  title: 'Sweeps',
  about: 'What the treasury collects from deposit addresses, so that payouts can be paid from one address.',
  empty: { text: 'Nothing was swept yet. Sweeps follow payments.', trigger: 'payment.paid' },
})
