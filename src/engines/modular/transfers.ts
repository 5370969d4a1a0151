import type { EngineCtx } from '#engines/ctx'
import type { Step } from '#engines/indexer/index'
import {
  type ObservedOperation,
  type ObservedTransfer,
  observedTransfersOf,
  withOrdinals,
} from '#engines/indexer/observed/index'
import type { Db } from '#runtime/db/db'
import { noteTransfers } from './note-changes.ts'
import { completeTransfers, failTransfers, saveTransfers } from './store/transfers.ts'

/** Records the transfers of modular wallets in an applied block, and completes those that have their confirmations. */
export async function recordTransfers(
  ctx: EngineCtx,
  tx: Db,
  { blockchain, blockHash, completeTo }: Step,
  operations: readonly ObservedOperation[],
): Promise<void> {
  const nowMs = ctx.clock.nowMs()
  const all = await observedTransfersOf(tx, blockchain, blockHash)
  const rows = withOrdinals(all.filter(({ purpose }) => purpose === 'modular')).map((row) => ({
    ...row,
    walletId: row.ownerId,
    walletAddress: row.address,
    transferType: row.direction === 'in' ? ('INBOUND_TRANSFER' as const) : ('OUTBOUND_TRANSFER' as const),
    userOpHash: operationOf(row, operations) ?? null,
  }))
  if (rows.length > 0) await noteTransfers(ctx, tx, await saveTransfers(tx, nowMs, rows), 'CONFIRMED')
  await noteTransfers(ctx, tx, await completeTransfers(tx, nowMs, blockchain, completeTo), 'COMPLETE')
}

/**
 * The operation of the sender that made a transfer: the EntryPoint tells of an operation after its logs. Native coins have no
 * log, and a place that their operation determines.
 */
function operationOf(
  { entityId, txHash, kind, position, fromAddress }: ObservedTransfer,
  operations: readonly ObservedOperation[],
): string | undefined {
  const own = operations.filter(
    (each) => each.entityId === entityId && each.txHash === txHash && each.account === fromAddress,
  )
  if (kind !== 'log') return own.length === 1 ? own[0]!.userOpHash : undefined
  return own.find((each) => each.logIndex > position)?.userOpHash
}

/** Fails what an orphaned block held. */
export async function revertTransfers(
  ctx: EngineCtx,
  tx: Db,
  { blockchain, blockHash }: Step,
): Promise<void> {
  const failed = await failTransfers(tx, ctx.clock.nowMs(), blockchain, blockHash)
  await noteTransfers(ctx, tx, failed, 'FAILED')
}
