import type { Block, Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { post, reverse, tokensOf } from '#engines/ledger/index'
import { failpoint } from '#lib/failpoints'
import type { Db } from '#runtime/db/db'
import { agreedDepths } from './agree.ts'
import { observe } from './observe.ts'
import {
  type CanonicalBlock,
  canonicalHead,
  insertBlock,
  lockChain,
  orphanBlock,
  saidOtherwise,
} from './store/blocks.ts'
import { forgetObserved, insertTransactions, insertTransfers } from './store/observed.ts'
import { allHaveFollowed, appendStep } from './store/steps.ts'

/**
 * Applies one block on top of `parent` (`undefined` for the first block) in one `tx`. False when another process moved the
 * head meanwhile; nothing is written then.
 */
export async function applyBlock(
  ctx: EngineCtx,
  chain: Chain,
  block: Block,
  parent: CanonicalBlock | undefined,
): Promise<boolean> {
  const { blockchain } = chain.network
  const tokens = await tokensOf(ctx.database, blockchain)
  const seen = await observe(ctx.database, chain, block, tokens)
  const depths = await agreedDepths(ctx, chain, block)
  failpoint('before-block-insert')
  const applied = await ctx.database.tx(async (tx) => {
    await lockChain(tx, blockchain)
    const head = await canonicalHead(tx, blockchain)
    if (head?.hash !== parent?.hash) return false
    if (!chain.local && (await saidOtherwise(tx, blockchain, block))) await forget(tx, blockchain, block)
    const nowMs = ctx.clock.nowMs()
    await insertBlock(tx, blockchain, block)
    await insertTransfers(tx, nowMs, seen.transfers)
    await insertTransactions(tx, seen.transactions)
    await post(tx, nowMs, seen.postings)
    const { hash: blockHash, number: blockNumber } = block
    await appendStep(tx, { blockchain, kind: 'applied', blockHash, blockNumber, depths })
    failpoint('before-block-commit')
    return true
  })
  failpoint('after-block-commit')
  return applied
}

/** Deletes the earlier contents of a block. Throws until every engine has reverted its own changes from them. */
async function forget(tx: Db, blockchain: string, { hash, number }: Block): Promise<void> {
  if (!(await allHaveFollowed(tx, blockchain)))
    throw new Error(
      `${blockchain}: block ${number} waits for the engines to take back what it was said to hold`,
    )
  await forgetObserved(tx, blockchain, hash)
}

/**
 * Reverts the newest block: reverses its postings, and appends the step with which engines undo their changes. `require`
 * throws to prevent it, under the lock of the chain.
 */
export async function undoHead(
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
    await reverse(tx, ctx.clock.nowMs(), blockchain, head.hash)
    failpoint('during-block-rollback')
    await appendStep(tx, { blockchain, kind: 'undone', blockHash: head.hash, blockNumber: head.number })
  })
}
