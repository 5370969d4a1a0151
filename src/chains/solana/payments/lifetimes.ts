/**
 * Transactions name a recent block and live as long as it is recent: 150 blocks after it. Heights count, not slots, of which some
 * have no block.
 */
import type { BlockAt, BlockRef } from '../../facets/blocks.ts'
import {
  alive,
  type ExpiringTransaction,
  type Expiry,
  type LifeVerdict,
  type OwnBlocks,
} from '../../facets/lifetimes.ts'

/** The blocks after a recent one that may have a transaction which names it, and one more: the end must not come too early. */
const lifeBlocks = 151

/** A transaction that is signed further behind the nodes would have little of its life left. */
const behindMax = 50

/** The recent block is one that this program has read: a node that lies about heights shortens no life. */
export function heightExpiryAfter(head: Pick<BlockRef, 'number'>, applied: BlockAt): Expiry | undefined {
  if (head.number - applied.number > behindMax) return undefined
  return { lastHeight: applied.number + lifeBlocks, recentBlock: applied.hash }
}

/** Blocks that a fork of a local chain takes back at most, though they count as final there. */
const localForkMax = 32

/** Proves that a transaction is dead: all final blocks up to the last that could have it are read, and none has it. */
export async function lifeUpToHeight(
  { hash, lastHeight, signedAt }: ExpiringTransaction,
  own: OwnBlocks,
  { local }: { local: boolean },
): Promise<LifeVerdict> {
  if (lastHeight === null) return alive('it has no last height')
  if (await own.has(hash)) return { kind: 'included' }
  if (own.from > signedAt + 1)
    return alive(`blocks from ${signedAt + 1} to ${own.from - 1}, which may have it, were not read`)
  if (own.last.number < lastHeight + (local ? localForkMax : 0))
    return alive(`block ${own.last.number}, the last final one, is before the end of its life`)
  const { number, hash: blockHash, timeMs } = own.last
  return { kind: 'dead', proof: { block: { number, hash: blockHash, timeMs }, lastHeight } }
}
