import type { Movement } from '../api/types.ts'
import { wordsOf } from '../format/text.ts'
import type { Cell } from '../parts/cell.ts'
import type { IconName } from '../parts/icon-names.ts'

const icons: Partial<Record<Movement['kind'], IconName>> = {
  refund: 'undo-2',
  sweep: 'coins',
  userOperation: 'square-function',
  message: 'globe',
  unifiedTransfer: 'globe',
}

/** What kind of movement it is, with the way of its money. */
export function kindOf({ kind, direction }: Pick<Movement, 'kind' | 'direction'>): Cell {
  const ways = { in: 'arrow-down-left', out: 'arrow-up-right', internal: 'arrow-left-right' } as const
  return { as: 'kind', kind: wordsOf(kind), icon: icons[kind] ?? ways[direction] }
}
