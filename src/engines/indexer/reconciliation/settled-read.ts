import { setTimeout as sleep } from 'node:timers/promises'
import type { Blocks } from '#chains/facets/blocks'

/** Number of rests that the newest block of a node must outlast, and the duration of each. */
const restsMax = 2
const restMs = 150

/**
 * Reads the state at the end of block `number`, again while it `differs` from the expected: a node that executes the next
 * block may answer for its newest block with the state of that one. The state of a block below the head no longer
 * changes; that of the head counts after the node reported no other block for `restsMax` rests.
 */
export async function settledRead<T>(
  blocks: Pick<Blocks, 'head'>,
  number: number,
  read: () => Promise<T>,
  differs: (answer: T) => boolean | Promise<boolean>,
): Promise<T> {
  let answer = await read()
  for (let rests = 0; await differs(answer); rests++) {
    if (rests > 0) await sleep(restMs)
    const isBelowHead = (await blocks.head()).number > number
    if (!isBelowHead && rests === restsMax) return answer
    answer = await read()
    if (isBelowHead) return answer
  }
  return answer
}
