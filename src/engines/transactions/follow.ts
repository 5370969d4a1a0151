import type { Chain } from '#chains/chain'
import { eraseGrants } from '#custody/index'
import { reserveAllowanceAgain } from '#custody/policy/index'
import { settleAllowance } from '#custody/settlements/index'
import type { EngineCtx } from '#engines/ctx'
import type { Step } from '#engines/indexer/index'
import { observedTransactionsOf } from '#engines/indexer/observed/index'
import { reopenHolds, resolveHolds } from '#engines/ledger/holds/index'
import { releaseHeld } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { failpoint } from '#runtime/scheduling/failpoints'
import { minedOperations, returnGas } from './operations/follow-operations.ts'
import { followUpgrades } from './operations/follow-upgrades.ts'
import { failReceived, recordReceived } from './receive.ts'
import { noteStates } from './record-state-events.ts'
import { requeueAfterExternalUse } from './sequence/requeue-displaced.ts'
import { markAttemptsMined, reviveOrphaned } from './store/attempts.ts'
import {
  completeTransactionsUpTo,
  markCancelled,
  markInBlock,
  minedInBlocks,
  returnTransactionsToSent,
} from './store/chain-effects.ts'
import { noopFeeHolders } from './store/gaps.ts'
import { endOperations, reviveOperations } from './store/operations.ts'
import type { Ref } from './store/transactions.ts'

/** Applies one step of the feed to the transactions. */
export async function followStepForTransactions(ctx: EngineCtx, tx: Db, step: Step): Promise<void> {
  const chain = ctx.chains.find(step.blockchain)
  if (!chain) return
  if (step.kind === 'undone') return undoBlock(ctx, tx, step)
  await confirmSent(ctx, tx, step)
  await confirmOperations(ctx, tx, step)
  await recordReceived(ctx, tx, chain.network, step)
  await complete(ctx, tx, step)
  await settleFinal(ctx, tx, chain, step)
}

async function confirmSent(ctx: EngineCtx, tx: Db, { blockchain, blockHash }: Step): Promise<void> {
  const seen = await observedTransactionsOf(tx, blockchain, blockHash)
  if (seen.length === 0) return
  const byHash = new Map(seen.map((row) => [`${row.entityId}:${row.txHash}`, row]))
  const mined = await markAttemptsMined(tx, blockchain, seen)
  const nowMs = ctx.clock.nowMs()
  const rows = mined.map(({ entityId, transactionId, txHash, kind }) => ({
    entityId,
    id: transactionId,
    kind,
    seen: byHash.get(`${entityId}:${txHash}`)!,
  }))
  await resolveHolds(
    tx,
    nowMs,
    (await noopFeeHolders(tx, mined)).map((intent) => ({ ...intent, outcome: 'posted' })),
  )
  const changed = await markInBlock(
    tx,
    nowMs,
    rows.filter(({ kind }) => kind === 'original' || kind === 'bump'),
  )
  await confirm(ctx, tx, changed)
  const cancelled = await markCancelled(
    tx,
    nowMs,
    rows.filter(({ kind }) => kind === 'cancel'),
  )
  await release(
    ctx,
    tx,
    cancelled.map((ref) => ({ ...ref, success: false })),
  )
  if (cancelled.length > 0) failpoint('before-cancel-record')
  for (const row of cancelled) await noteStates(ctx, tx, [row], row.state, row.errorReason ?? undefined)
}

/** Operations of smart accounts are confirmed by the nonce that the EntryPoint logs. */
async function confirmOperations(ctx: EngineCtx, tx: Db, step: Step): Promise<void> {
  const nowMs = ctx.clock.nowMs()
  const mined = await minedOperations(tx, nowMs, step)
  if (mined.length === 0) return
  const changed = await markInBlock(tx, nowMs, mined)
  // A stranger's bundle may have executed one that waits for ours.
  await endOperations(tx, changed)
  await confirm(ctx, tx, changed)
}

async function confirm(ctx: EngineCtx, tx: Db, changed: readonly (Ref & { success: boolean })[]) {
  await release(ctx, tx, changed)
  const [good, bad] = [changed.filter(({ success }) => success), changed.filter(({ success }) => !success)]
  await noteStates(ctx, tx, good, 'CONFIRMED')
  await noteStates(ctx, tx, bad, 'FAILED', 'FAILED_ON_CHAIN')
}

/** Resolves the holds of mined transactions: the fee is posted; the amount is posted on success and voided otherwise. */
async function release(ctx: EngineCtx, tx: Db, rows: readonly (Ref & { success: boolean })[]): Promise<void> {
  await resolveHolds(
    tx,
    ctx.clock.nowMs(),
    rows.flatMap(({ entityId, id: intentId, success }) => [
      ...(['amount', 'gas'] as const).map((purpose) => ({
        entityId,
        intentId,
        purpose,
        outcome: success ? ('posted' as const) : ('voided' as const),
        // The balance of an unlisted token is not booked with the block: its hold stays until it is.
        listedOnly: success,
      })),
      { entityId, intentId, purpose: 'fee' as const, outcome: 'posted' as const },
    ]),
  )
}

/** Completes what is confirmed in blocks up to the step's complete one. */
export async function complete(ctx: EngineCtx, tx: Db, { blockchain, completeTo }: Step): Promise<void> {
  const completed = await completeTransactionsUpTo(tx, ctx.clock.nowMs(), blockchain, completeTo)
  await followUpgrades(ctx, tx, completed)
  await noteStates(ctx, tx, completed, 'COMPLETE')
}

/** Number of additional blocks for which a local chain keeps grants: it can be rewound below its final blocks. */
const grantsKeptLocal = 64

/**
 * Erases grants and releases allowances only at finality: after a reorg, the transaction may still use the allowance that
 * another one was given, or need the grant for a replacement.
 */
async function settleFinal(ctx: EngineCtx, tx: Db, chain: Chain, step: Step): Promise<void> {
  const { blockchain, finalFrom, finalTo } = step
  if (finalFrom > finalTo) return
  const kept = chain.local ? grantsKeptLocal : 0
  await eraseGrants(tx, await minedInBlocks(tx, blockchain, finalFrom - kept, finalTo - kept))
  const mined = await minedInBlocks(tx, blockchain, finalFrom, finalTo)
  await settleAllowance(
    tx,
    ctx.clock.nowMs(),
    mined
      .map((intent) => ({ ...intent, isVoid: intent.state === 'FAILED' || intent.state === 'CANCELLED' }))
      // Fees that a wallet paid count against no limit.
      .filter(({ isVoid, ofWallet }) => isVoid || !ofWallet),
  )
  await requeueAfterExternalUse(ctx, tx, step)
}

/**
 * Reverts an orphaned block: outbound transactions are sent again with the same bytes and the same holds; inbound ones fail.
 */
async function undoBlock(ctx: EngineCtx, tx: Db, step: Step): Promise<void> {
  const { blockchain, blockHash } = step
  const nowMs = ctx.clock.nowMs()
  const seen = await observedTransactionsOf(tx, blockchain, blockHash)
  const revived = await reviveOrphaned(tx, blockchain, seen)
  const sent = await returnTransactionsToSent(tx, nowMs, blockchain, blockHash)
  await reviveOperations(tx, sent)
  await returnGas(tx, nowMs, step)
  await followUpgrades(ctx, tx, sent)
  const intents = sent.map(({ entityId, id }) => ({ entityId, intentId: id }))
  await reopenHolds(tx, nowMs, [...intents, ...(await noopFeeHolders(tx, revived))])
  await reserveAllowanceAgain(tx, intents)
  // A failure in an orphaned block is not explained any more; its notification precedes the one of SENT.
  await releaseHeld(
    tx,
    sent.map(({ entityId, id: resourceId }) => ({ entityId, resourceId })),
  )
  await noteStates(ctx, tx, sent, 'SENT')
  await failReceived(ctx, tx, step)
}
