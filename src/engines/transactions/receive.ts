import type { Network } from '#chains/networks/index'
import { type Evaluation, screenSenders } from '#engines/compliance/index'
import type { EngineCtx } from '#engines/ctx'
import type { Step } from '#engines/indexer/index'
import {
  type ObservedTransfer,
  observedTransfersOf,
  sendersIn,
  type TransferOfLog,
  withOrdinals,
} from '#engines/indexer/observed/index'
import { tokensOf } from '#engines/ledger/tokens/index'
import { formatAmount } from '#lib/amounts'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { holdReviewed, releaseReviewed } from './hold-reviewed-deposits.ts'
import { noteStates } from './record-state-events.ts'
import { failInbound, markProven, type ReceivedTransfer, upsertInbound } from './store/chain-effects.ts'

/** Records the transfers of listed tokens to wallets in an applied block, with the decisions about their senders. */
export async function recordReceived(
  ctx: EngineCtx,
  tx: Db,
  network: Network,
  { blockchain, blockHash }: Step,
): Promise<void> {
  const transfers = await observedTransfersOf(tx, blockchain, blockHash)
  const received = transfers.filter((row) => row.direction === 'in' && row.purpose === 'wallet')
  if (received.length === 0) return
  const tokens = new Map((await tokensOf(tx, blockchain)).map((token) => [token.id, token]))
  const evaluations = await evaluateSenders(ctx, tx, { blockchain, blockHash }, received)
  const rows = withOrdinals(received).map((row) => ({
    ...row,
    logIndex: row.kind === 'log' ? row.position : null,
    amounts: [formatAmount(row.amount, tokens.get(row.tokenId)!.decimals)],
    itemIds: null,
    unproven: false,
    announced: true,
    screening: evaluations.get(row.id)!,
  }))
  const recorded = await upsertInbound(tx, ctx.clock.nowMs(), rows)
  await holdReviewed(ctx, tx, network, recorded)
  await noteStates(ctx, tx, recorded, 'CONFIRMED')
}

async function evaluateSenders(
  ctx: EngineCtx,
  tx: Db,
  { blockchain, blockHash }: Pick<Step, 'blockchain' | 'blockHash'>,
  received: readonly ObservedTransfer[],
): Promise<Map<string, Evaluation>> {
  const sendersOf = await sendersIn(tx, blockchain, blockHash)
  const decisions = await screenSenders({ ...ctx, db: tx }, received.map(sendersOf))
  const screeningDate = formatInstant(ctx.clock.nowMs())
  return new Map(received.map(({ id }, index) => [id, { ...decisions[index]!, screeningDate }]))
}

/** Fails what was received in an orphaned block. */
export async function failReceived(ctx: EngineCtx, tx: Db, { blockchain, blockHash }: Step): Promise<void> {
  const failed = await failInbound(tx, ctx.clock.nowMs(), blockchain, blockHash)
  await releaseReviewed(ctx, tx, failed)
  await noteStates(ctx, tx, failed, 'FAILED', 'FAILED_REORG')
}

/**
 * Records transfers of unlisted tokens to wallets, which are known to be from a canonical block or one that is undone later.
 * They are not screened: a contract can name any address as the sender of its own token.
 */
export async function recordUnlistedReceived(
  ctx: EngineCtx,
  tx: Db,
  rows: readonly Omit<ReceivedTransfer, 'screening'>[],
): Promise<void> {
  if (rows.length === 0) return
  const unscreened = rows.map((row) => ({ ...row, screening: null }))
  await noteStates(ctx, tx, await upsertInbound(tx, ctx.clock.nowMs(), unscreened), 'CONFIRMED')
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
    await noteStates(
      ctx,
      tx,
      shown.filter((row) => row.state === state),
      state,
    )
}
