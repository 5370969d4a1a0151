/** Balances of before: nodes tell of their newest block alone, so that what the blocks since then changed is taken back. */
import type { BlockAt } from '../../facets/blocks.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import type { SolanaBlock } from '../blocks/read-block.ts'
import { readRefOfSlot } from '../blocks/slots.ts'
import type { SolanaClient } from '../rpc/client.ts'

/** Reads a whole block, which may be one that was read before; `undefined` where no node has it. */
export type BlockWithChanges = (at: BlockAt) => Promise<SolanaBlock | undefined>

/** Blocks that are taken back at most to tell a balance of before. */
const takenBackMax = 300

/** Visits the blocks after the one asked for, up to that of a slot. They count for nothing when it throws. */
export async function visitBlocksSince(
  node: SolanaClient,
  slot: number,
  at: BlockAt,
  wholeOf: BlockWithChanges,
  visit: (block: SolanaBlock) => void,
): Promise<void> {
  const newest = await readRefOfSlot(node, slot)
  if (!newest || newest.number < at.number || newest.number - at.number > takenBackMax)
    throw new NodeUnreachable(`the node tells balances of slot ${slot}, too far from block ${at.number}`)
  let { hash } = newest
  for (let height = newest.number; height > at.number; height--) {
    const whole = await wholeOf({ number: height, hash })
    if (!whole) throw new NodeUnreachable(`block ${height} was taken back meanwhile`)
    visit(whole)
    hash = whole.block.parentHash
  }
  if (hash === at.hash) return
  throw new NodeUnreachable(`the node has another block ${at.number}`)
}
