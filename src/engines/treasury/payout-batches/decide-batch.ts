import type { Ctx } from '#engines/ctx'
import { walletMoney } from '#engines/ledger/index'
import { ApiError, invalid, notFound } from '#lib/errors'
import { formatInstant } from '#lib/time'
import { recordChanges } from '#runtime/record/store'
import { requireUnboundKey } from '../disbursements/open-disbursements.ts'
import { merchantWalletIdOf } from '../merchant-wallet.ts'
import {
  announceBatch,
  approveBatch,
  batchTotals,
  cancelBatch,
  lockBatch,
  type PayoutBatch,
} from './store.ts'

/**
 * Approves the batch whose contents have this hash, in `ctx.db`'s tx: its rows become payouts from now on. One that was approved
 * before is returned as it is. Throws the documented error where its contents are others, a row has an error, another person has to
 * approve, or the money does not suffice.
 */
export async function approvePayouts(ctx: Ctx, id: string, contentHash: string): Promise<PayoutBatch> {
  const batch = await requireBatch(ctx, id)
  if (batch.contentHash !== contentHash)
    throw invalid({
      at: 'contentHash',
      reason: 'is not the hash of this batch: look at what it contains, and send its contentHash',
      value: contentHash,
      kind: 'payoutBatchChanged',
    })
  if (batch.state === 'approved' || batch.state === 'complete') return batch
  if (batch.state === 'cancelled') throw ended(batch)
  if (batch.errorCount > 0)
    throw new ApiError(
      'payoutFileInvalid',
      `${batch.errorCount} rows of the batch have errors: correct the file, and upload it again.`,
    )
  if (ctx.config.reviewApprovers === 2 && batch.uploadedBy === ctx.actor)
    throw new ApiError('payoutBatchNeedsAnother')
  await requireUnboundKey(ctx)
  await requireMoney(ctx, batch)
  const updateDate = formatInstant(ctx.receivedMs)
  const approval = { approvedBy: ctx.actor, approvalRequestId: ctx.requestId, updateDate }
  const approved = { ...batch, ...approval, state: 'approved' as const }
  await approveBatch(ctx.db, approved)
  await record(ctx, approved, 'payoutBatch.approved')
  await announceBatch(ctx.db)
  return approved
}

/** Cancels a batch in `ctx.db`'s tx: rows that are no payouts yet never become any. */
export async function cancelPayouts(ctx: Ctx, id: string): Promise<PayoutBatch> {
  const batch = await requireBatch(ctx, id)
  if (batch.state === 'cancelled') return batch
  if (batch.state === 'complete') throw ended(batch)
  const cancelled = { ...batch, state: 'cancelled' as const, updateDate: formatInstant(ctx.receivedMs) }
  await cancelBatch(ctx.db, cancelled)
  await record(ctx, cancelled, 'payoutBatch.cancelled')
  return cancelled
}

const ended = ({ state }: PayoutBatch) =>
  new ApiError('payoutBatchEnded', `The batch is ${state} and cannot be decided again: upload the file anew.`)

async function requireBatch(ctx: Ctx, id: string): Promise<PayoutBatch> {
  const batch = await lockBatch(ctx.db, ctx.entity.id, id)
  if (!batch) throw notFound('payout batch', id, 'payoutBatchNotFound')
  return batch
}

/** A first look: each payout reserves its amount by itself. */
async function requireMoney({ db, entity }: Ctx, { id }: PayoutBatch): Promise<void> {
  const owned = await walletMoney(db, entity.id, merchantWalletIdOf(entity.id))
  const sums = new Map<string, bigint>()
  for (const { currency, amount } of await batchTotals(db, entity.id, id))
    sums.set(currency, (sums.get(currency) ?? 0n) + amount)
  for (const [currency, sum] of sums) {
    const { postedAtomic = 0n, heldAtomic = 0n } = owned.find((each) => each.currency === currency) ?? {}
    if (sum > postedAtomic - heldAtomic) throw new ApiError('payoutFundsInsufficient')
  }
}

const record = (
  { db, receivedMs, entity, actor, requestId }: Ctx,
  { id: resourceId, contentHash, rowCount }: PayoutBatch,
  type: string,
) => {
  const data = { contentHash, rows: rowCount }
  return recordChanges(db, receivedMs, [{ entityId: entity.id, actor, requestId, type, resourceId, data }])
}
