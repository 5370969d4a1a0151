/**
 * Applies a reorg: blocks that the chain replaced are reverted one by one, newest first, down to the common ancestor, from
 * where the blocks of the new branch are applied. A reorg below the final blocks is refused.
 */

import type { Chain } from '#chains/chain'
import type { BlockRef } from '#chains/facets/blocks'
import { undoIssuers } from '#engines/compliance/lists/index'
import type { EngineCtx } from '#engines/ctx'
import { reversePostings } from '#engines/ledger/index'
import type { Db } from '#runtime/db/db'
import { failpoint } from '#runtime/scheduling/failpoints'
import { FalseContents } from './agreed-contents.ts'
import { requireAgreement } from './endpoint-agreement.ts'
import { removeBlockLogs } from './events/record-logs.ts'
import { type CanonicalBlock, canonicalHead, lockChain, orphanBlock } from './store/blocks.ts'
import { appendStep, highestFinal } from './store/steps.ts'

/** The chain reverted a final block: an endpoint lies, and the chain is no longer trusted. */
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

/** Reverts the newest applied block if the node has another in its place; false if not. Throws `DeepReorg` for a final one. */
export async function revertOrphanedHead(
  ctx: EngineCtx,
  chain: Chain,
  head: CanonicalBlock,
  target: BlockRef,
): Promise<boolean> {
  const replacement = await replacementOf(chain, head, target)
  if (replacement === undefined) return false
  if (!chain.local) await requireNotFinal(ctx, chain, head, replacement)
  await revertHead(ctx, chain, head)
  return true
}

/** Returns the hash that the node has in place of our newest block, or that of its lower head after a rewind. */
async function replacementOf(
  chain: Chain,
  head: CanonicalBlock,
  target: BlockRef,
): Promise<string | undefined> {
  // A node behind us may only lag; a local chain was really rewound.
  if (head.number > target.number) return chain.local ? target.hash : undefined
  const there = head.number === target.number ? target.hash : await chain.blocks.hashAt(head.number)
  return there === head.hash ? undefined : there
}

/**
 * Throws `DeepReorg` for a final block: engines may have acted on it irreversibly. Since the final height is stored, a
 * restart halfway does not make a deep reorg look shallow.
 */
async function requireNotFinal(
  ctx: EngineCtx,
  chain: Chain,
  head: CanonicalBlock,
  replacement: string,
): Promise<void> {
  const { blockchain } = chain.network
  if (head.number > (await highestFinal(ctx.database, blockchain))) return
  // A single false endpoint must not halt the chain.
  await requireAgreement(ctx, chain, head.number, replacement)
  throw new DeepReorg(blockchain, head, replacement)
}

/**
 * Reverts the newest block: reverses its postings, removes its event logs, and appends the step with which engines undo their
 * changes. `require` throws to prevent it, under the lock of the chain.
 */
export async function revertHead(
  ctx: EngineCtx,
  chain: Chain,
  head: CanonicalBlock,
  require?: (tx: Db) => Promise<void>,
): Promise<void> {
  const { blockchain } = chain.network
  await ctx.database.tx(async (tx) => {
    await lockChain(tx, blockchain)
    await require?.(tx)
    if ((await canonicalHead(tx, blockchain))?.hash !== head.hash) return
    await orphanBlock(tx, blockchain, head.hash)
    await undoIssuers(tx, ctx.clock.nowMs(), { blockchain, blockHash: head.hash })
    await reversePostings(tx, ctx.clock.nowMs(), blockchain, head.hash)
    await removeBlockLogs(tx, ctx.clock.nowMs(), blockchain, head.hash)
    failpoint('during-block-rollback')
    await appendStep(tx, { blockchain, kind: 'undone', blockHash: head.hash, blockNumber: head.number })
  })
}

/**
 * Handles `FalseContents`: reverts that block and all above it. Returns 1, since reading it again is progress; rethrows other
 * errors.
 */
export const revertFalseContents = (ctx: EngineCtx, chain: Chain) => async (error: unknown) => {
  if (!(error instanceof FalseContents)) throw error
  for (;;) {
    const head = await canonicalHead(ctx.database, chain.network.blockchain)
    if (!head || head.number < error.blockNumber) return 1
    await revertHead(ctx, chain, head)
  }
}
