import type { Chain } from '#chains/chain'
import type { Block } from '#chains/facets/blocks'
import type { EngineCtx } from '#engines/ctx'
import { FalseContents } from './agreed-contents.ts'
import { applyBlock } from './apply-block.ts'
import type { ReadAhead } from './read-ahead.ts'
import { revertFalseContents, revertOrphanedHead } from './reorg.ts'
import { type CanonicalBlock, canonicalHead } from './store/blocks.ts'

/** Maximum number of blocks requested at once while catching up: fewer while they are heavy or the node is slow. */
const aheadMax = 16
const readMs = { short: 200, long: 600 }

/** Lets the caller stop `catchUp` between blocks. */
type Pace = {
  /** Checked between blocks. An old lease alone is no reason: blocks that were read are still applied. */
  stopping(): boolean
  /** Checked before more blocks are read. */
  mayGoOn(): boolean
}

/** A chain, and the blocks of it that were read already. */
type FollowedChain = { chain: Chain; readAhead: ReadAhead }

/**
 * Applies the blocks of a chain up to its head: never skips one, and reverts to the common ancestor after a reorg. Returns
 * when there is nothing more to apply, or when `pace` stops it.
 */
export async function catchUp(ctx: EngineCtx, followed: FollowedChain, pace: Pace): Promise<void> {
  const { chain, readAhead } = followed
  let ahead = 2
  let reverting = false
  while (pace.mayGoOn()) {
    const head = await canonicalHead(ctx.database, chain.network.blockchain)
    const target = await chain.blocks.head()
    // Hashes show how deep a reorg is: contents are read only from the common ancestor on.
    reverting = reverting && head !== undefined && (await revertOrphanedHead(ctx, chain, head, target))
    if (reverting) continue
    const next = head ? head.number + 1 : firstNumber(chain, target.number)
    const last = Math.min(target.number, next + ahead - 1)
    if (next <= last) {
      const startedMs = performance.now()
      const applied = await applyBlocks(ctx, followed, head, { from: next, to: last }, pace).catch(
        (error) => {
          if (error instanceof FalseContents) readAhead.forget()
          return revertFalseContents(ctx, chain)(error)
        },
      )
      ahead = adapted(ahead, performance.now() - startedMs)
      if (applied > 0) continue
    }
    if (!head || !(await revertOrphanedHead(ctx, chain, head, target))) return
    reverting = true
  }
}

function adapted(ahead: number, tookMs: number): number {
  if (tookMs > readMs.long) return Math.max(1, ahead >> 1)
  return tookMs < readMs.short ? Math.min(aheadMax, ahead * 2) : ahead
}

/** Starts a configured chain at its head, since managed addresses are younger; a local chain is read from its first block. */
const firstNumber = (chain: Chain, target: number) => (chain.local ? 0 : target)

/** Applies consecutive blocks until one does not fit or could not be read; returns the number of blocks applied. */
async function applyBlocks(
  ctx: EngineCtx,
  { chain, readAhead }: FollowedChain,
  head: CanonicalBlock | undefined,
  { from, to }: { from: number; to: number },
  pace: Pace,
): Promise<number> {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const answers = await Promise.allSettled(numbers.map(readAhead.read))
  let parent = head
  let count = 0
  for (const answer of answers) {
    if (answer.status === 'rejected') {
      // Blocks read before it are still applied: otherwise a flaky node could block a long catch-up for ever.
      if (count === 0) throw answer.reason
      break
    }
    const block = answer.value
    if (!block || pace.stopping() || !follows(block, parent, from + count)) break
    if (!(await applyBlock(ctx, chain, block, parent))) break
    readAhead.applied(block.number)
    parent = { number: block.number, hash: block.hash, parentHash: block.parentHash }
    count += 1
  }
  return count
}

const follows = (block: Block, parent: CanonicalBlock | undefined, number: number) =>
  block.number === number && (parent === undefined || block.parentHash === parent.hash)
