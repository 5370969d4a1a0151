import type { Block, BlockRef, Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { requireAgreement } from './agree.ts'
import { applyBlock, undoHead } from './apply.ts'
import { FalseContent } from './contents.ts'
import { type CanonicalBlock, canonicalHead } from './store/blocks.ts'
import { highestFinal } from './store/steps.ts'

/** The chain reverted a final block: an endpoint lies, and the chain is not trusted any more. */
export class DeepReorg extends Error {
  /** The final block, and the one that the chain has in its place. */
  readonly block: CanonicalBlock
  readonly otherHash: string

  constructor(blockchain: string, block: CanonicalBlock, otherHash: string) {
    super(`${blockchain}: final block ${block.number} ${block.hash} is no longer on the chain`)
    this.block = block
    this.otherHash = otherHash
  }
}

/** Maximum number of blocks requested at once while catching up: fewer while they are heavy or the node is slow. */
const aheadMax = 16
const readMs = { short: 200, long: 600 }

/** Lets the caller stop `advance` between blocks. */
export type Pace = {
  /** Checked between blocks. An old lease alone is no reason: blocks that were read are still applied. */
  stopping(): boolean
  /** Checked before more blocks are read. */
  mayGoOn(): boolean
}

/**
 * Applies the blocks of a chain up to its head: never skips one, and reverts to the common ancestor after a reorg. Returns
 * when there is nothing more to apply, or when `pace` stops it.
 */
export async function advance(ctx: EngineCtx, chain: Chain, pace: Pace): Promise<void> {
  let ahead = 2
  while (pace.mayGoOn()) {
    const head = await canonicalHead(ctx.database, chain.network.blockchain)
    const target = await chain.head()
    const next = head ? head.number + 1 : firstNumber(chain, target.number)
    const last = Math.min(target.number, next + ahead - 1)
    if (next <= last) {
      const startedMs = performance.now()
      const applied = await applyRun(ctx, chain, head, next, last, pace).catch(takeBack(ctx, chain))
      ahead = adapted(ahead, performance.now() - startedMs)
      if (applied > 0) continue
    }
    const other = head && (await orphanedBy(chain, head, target))
    if (!head || other === undefined) return
    if (!chain.local) await requireNotFinal(ctx, chain, head, other)
    await undoHead(ctx, chain, head)
  }
}

/** Reverts a block with false contents, and all above it. Returns 1: reading it again is progress. */
const takeBack = (ctx: EngineCtx, chain: Chain) => async (error: unknown) => {
  if (!(error instanceof FalseContent)) throw error
  for (;;) {
    const head = await canonicalHead(ctx.database, chain.network.blockchain)
    if (!head || head.number < error.blockNumber) return 1
    await undoHead(ctx, chain, head)
  }
}

function adapted(ahead: number, tookMs: number): number {
  if (tookMs > readMs.long) return Math.max(1, ahead >> 1)
  return tookMs < readMs.short ? Math.min(aheadMax, ahead * 2) : ahead
}

/**
 * Throws `DeepReorg` for a final block: engines may have acted on it irreversibly. Since the final height is stored, a
 * restart halfway does not make a deep reorg look shallow.
 */
async function requireNotFinal(
  ctx: EngineCtx,
  chain: Chain,
  head: CanonicalBlock,
  other: string,
): Promise<void> {
  const { blockchain } = chain.network
  if (head.number > (await highestFinal(ctx.database, blockchain))) return
  // A single false endpoint must not halt the chain.
  await requireAgreement(ctx, chain, head.number, other)
  throw new DeepReorg(blockchain, head, other)
}

/** Starts a configured chain at its head, since managed addresses are younger; a local chain is read from its first block. */
const firstNumber = (chain: Chain, target: number) => (chain.local ? 0 : target)

/** The hash that the node has in place of our newest block, or that of its lower head after a rewind. */
async function orphanedBy(chain: Chain, head: CanonicalBlock, target: BlockRef): Promise<string | undefined> {
  // A node behind us may only lag; a local chain was really rewound.
  if (head.number > target.number) return chain.local ? target.hash : undefined
  const there = head.number === target.number ? target : await chain.blockByNumber(head.number)
  return there === undefined || there.hash === head.hash ? undefined : there.hash
}

/** Applies consecutive blocks until one does not fit or could not be read; returns the number of blocks applied. */
async function applyRun(
  ctx: EngineCtx,
  chain: Chain,
  head: CanonicalBlock | undefined,
  from: number,
  to: number,
  pace: Pace,
): Promise<number> {
  const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const answers = await Promise.allSettled(numbers.map((number) => chain.blockByNumber(number)))
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
    parent = { number: block.number, hash: block.hash, parentHash: block.parentHash }
    count += 1
  }
  return count
}

const follows = (block: Block, parent: CanonicalBlock | undefined, number: number) =>
  block.number === number && (parent === undefined || block.parentHash === parent.hash)
