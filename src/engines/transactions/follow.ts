import type { Chain } from '#chains/chain'
import { eraseGrants, releaseAllowance, reserveAllowanceAgain } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import {
  observedTransactionsOf,
  observedTransfersOf,
  type Step,
  type TransferOfLog,
  withOrdinals,
} from '#engines/indexer/index'
import { reopenHolds, resolveHolds, tokensOf } from '#engines/ledger/index'
import { releaseHeld } from '#engines/webhooks/index'
import { formatAmount } from '#lib/amounts'
import { failpoint } from '#lib/failpoints'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { requeueAfterExternalUse } from './external-nonce-use.ts'
import { markMined, markReplaced, reviveOrphaned } from './store/attempts.ts'
import {
  completeUpTo,
  failInbound,
  markCancelled,
  markInBlock,
  markProven,
  minedInBlocks,
  type ReceivedTransfer,
  returnToSent,
  upsertInbound,
} from './store/chain-effects.ts'
import { noopFeeHolders } from './store/gaps.ts'
import type { Ref } from './store/transactions.ts'

/** Applies one step of the feed to the transactions. */
export async function followStep(ctx: EngineCtx, tx: Db, step: Step): Promise<void> {
  const chain = ctx.chains.find(step.blockchain)
  if (!chain) return
  if (step.kind === 'undone') return undoBlock(ctx, tx, step)
  await confirmSent(ctx, tx, step)
  await recordReceived(ctx, tx, step)
  await complete(ctx, tx, step)
  await settleFinal(ctx, tx, chain, step)
}

async function confirmSent(ctx: EngineCtx, tx: Db, { blockchain, blockHash }: Step): Promise<void> {
  const seen = await observedTransactionsOf(tx, blockchain, blockHash)
  if (seen.length === 0) return
  const byHash = new Map(seen.map((row) => [`${row.entityId}:${row.txHash}`, row]))
  const mined = await markMined(tx, blockchain, seen)
  const nowMs = ctx.clock.nowMs()
  await markReplaced(tx, blockchain, mined)
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
  await release(ctx, tx, changed)
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
  const [good, bad] = [changed.filter(({ success }) => success), changed.filter(({ success }) => !success)]
  await note(ctx, tx, good, 'CONFIRMED')
  await note(ctx, tx, bad, 'FAILED', 'FAILED_ON_CHAIN')
  for (const row of cancelled) await note(ctx, tx, [row], row.state, row.errorReason ?? undefined)
}

/** Resolves the holds of mined transactions: the fee is posted; the amount is posted on success and voided otherwise. */
async function release(ctx: EngineCtx, tx: Db, rows: readonly (Ref & { success: boolean })[]): Promise<void> {
  await resolveHolds(
    tx,
    ctx.clock.nowMs(),
    rows.flatMap(({ entityId, id: intentId, success }) => [
      {
        entityId,
        intentId,
        purpose: 'amount' as const,
        outcome: success ? ('posted' as const) : ('voided' as const),
        // The balance of an unlisted token is not booked with the block: its hold stays until it is.
        listedOnly: success,
      },
      { entityId, intentId, purpose: 'fee' as const, outcome: 'posted' as const },
    ]),
  )
}

async function recordReceived(ctx: EngineCtx, tx: Db, { blockchain, blockHash }: Step): Promise<void> {
  const transfers = await observedTransfersOf(tx, blockchain, blockHash)
  const received = transfers.filter((row) => row.direction === 'in' && row.purpose === 'wallet')
  if (received.length === 0) return
  const tokens = new Map((await tokensOf(tx, blockchain)).map((token) => [token.id, token]))
  const rows = withOrdinals(received).map((row) => ({
    ...row,
    amounts: [formatAmount(row.amount, tokens.get(row.tokenId)!.decimals)],
    itemIds: null,
    unproven: false,
    announced: true,
  }))
  await note(ctx, tx, await upsertInbound(tx, ctx.clock.nowMs(), rows), 'CONFIRMED')
}

/** Completes what is confirmed in blocks up to the step's complete one. */
export async function complete(ctx: EngineCtx, tx: Db, { blockchain, completeTo }: Step): Promise<void> {
  await note(ctx, tx, await completeUpTo(tx, ctx.clock.nowMs(), blockchain, completeTo), 'COMPLETE')
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
  await releaseAllowance(
    tx,
    ctx.clock.nowMs(),
    mined.filter(({ state }) => state === 'FAILED' || state === 'CANCELLED'),
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
  const sent = await returnToSent(tx, nowMs, blockchain, blockHash)
  const intents = sent.map(({ entityId, id }) => ({ entityId, intentId: id }))
  await reopenHolds(tx, nowMs, [...intents, ...(await noopFeeHolders(tx, revived))])
  await reserveAllowanceAgain(tx, intents)
  // A failure in an orphaned block is not explained any more; its notification precedes the one of SENT.
  await releaseHeld(
    tx,
    sent.map(({ entityId, id: resourceId }) => ({ entityId, resourceId })),
  )
  await note(ctx, tx, sent, 'SENT')
  await failReceived(ctx, tx, step)
}

/** Fails what was received in an orphaned block. */
export async function failReceived(ctx: EngineCtx, tx: Db, { blockchain, blockHash }: Step): Promise<void> {
  const failed = await failInbound(tx, ctx.clock.nowMs(), blockchain, blockHash)
  await note(ctx, tx, failed, 'FAILED', 'FAILED_REORG')
}

/** Records transfers of unlisted tokens to wallets, which are known to be from a canonical block or one that is undone later. */
export async function recordUnlistedReceived(
  ctx: EngineCtx,
  tx: Db,
  rows: readonly ReceivedTransfer[],
): Promise<void> {
  if (rows.length === 0) return
  await note(ctx, tx, await upsertInbound(tx, ctx.clock.nowMs(), rows), 'CONFIRMED')
}

/** Lists what balances have proven, and notifies of it as it is now. */
export async function showReceived(
  ctx: EngineCtx,
  tx: Db,
  blockchain: string,
  rows: readonly (TransferOfLog & { announced: boolean })[],
): Promise<void> {
  if (rows.length === 0) return
  const shown = await markProven(tx, ctx.clock.nowMs(), blockchain, rows)
  for (const state of new Set(shown.map((row) => row.state)))
    await note(
      ctx,
      tx,
      shown.filter((row) => row.state === state),
      state,
    )
}

type Changed = Ref & { announced?: boolean }

const note = (ctx: EngineCtx, tx: Db, rows: readonly Changed[], state: string, reason?: string) =>
  recordChanges(
    tx,
    ctx.clock.nowMs(),
    rows
      .filter(({ announced = true }) => announced)
      .map(({ entityId, id }) => ({
        entityId,
        actor: 'transactions',
        type: `transaction.${state.toLowerCase()}`,
        resourceId: id,
        data: { state, ...(reason !== undefined && { reason }) },
      })),
  )
