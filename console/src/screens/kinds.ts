import type { Movement } from '../api/types.ts'
import { wordsOf } from '../format/text.ts'
import type { Cell } from '../parts/cell.ts'
import type { IconName } from '../parts/icon-names.ts'

/** Every kind of movement: the type of the answers says whether one is missing. */
const allKinds: Record<Movement['kind'], true> = {
  transaction: true,
  payment: true,
  refund: true,
  payout: true,
  redemption: true,
  transfer: true,
  deposit: true,
  sweep: true,
  userOperation: true,
  modularTransfer: true,
  message: true,
  unifiedTransfer: true,
}
export const movementKinds: readonly string[] = Object.keys(allKinds)

const icons: Partial<Record<Movement['kind'], IconName>> = {
  refund: 'undo-2',
  sweep: 'coins',
  userOperation: 'square-function',
  message: 'globe',
  unifiedTransfer: 'globe',
}

/** The kind of a movement, with an arrow for the direction of its money. */
export function kindOf({ kind, direction }: Pick<Movement, 'kind' | 'direction'>): Cell {
  const ways = { in: 'arrow-down-left', out: 'arrow-up-right', internal: 'arrow-left-right' } as const
  return { as: 'kind', kind: wordsOf(kind), icon: icons[kind] ?? ways[direction] }
}
