/**
 * Turns the rows of approved batches into payouts, one row in one `tx`: a payout has the id that its row had since the file was
 * uploaded, so that a crash, a second worker or a restored database pays no row twice. A row that cannot become a payout fails
 * by itself. Batches of all tenants take turns, row by row.
 */
import type { EngineCtx } from '#engines/ctx'
import { InsufficientFunds } from '#engines/ledger/holds/index'
import { ApiError } from '#lib/errors'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { hearNotices } from '#runtime/pg-notifications'
import { recordChanges } from '#runtime/record/store'
import { failpoint } from '#runtime/scheduling/failpoints'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { newTurn, type Turn } from '#runtime/turns/store'
import { actor } from '../act-for-entity.ts'
import { lockPayee } from '../address-book/payee.ts'
import { openPayout } from '../disbursements/open-disbursements.ts'
import { findPayout } from '../disbursements/store/payouts.ts'
import {
  claimBatch,
  type DueRow,
  endRow,
  lockBatch,
  nextDueRow,
  type PayoutBatch,
  postponeRow,
} from './store.ts'

/** Rest of a row that cannot be judged, because of trouble that is not its own. */
const restMs = 5_000

/** Starts creating the payouts of approved batches. Woken by NOTIFY `payout_batches`; any number of workers may run. */
export function startPayoutBatches(ctx: EngineCtx): Service {
  const turn = newTurn('creating payouts of batches')
  const loop = repeat(() => createNext(ctx, turn), logTrouble(ctx.log, 'creating payouts of batches'))
  return serviceOf(
    hearNotices(ctx, 'payout_batches', () => loop.wake()),
    loop,
  )
}

/** Ends the next due row. False when none was due. */
async function createNext(ctx: EngineCtx, turn: Turn): Promise<boolean> {
  let row: DueRow | undefined
  const afterCommit: (() => Promise<unknown>)[] = []
  try {
    const done = await ctx.database.tx(async (tx) => {
      const batch = await claimBatch(tx, turn)
      row = batch && (await nextDueRow(tx, batch))
      if (!batch || !row) return false
      await createPayout(ctx, tx, batch, row, afterCommit)
      await end(tx, ctx.clock.nowMs(), row, undefined)
      failpoint('before-batch-row-commit')
      return true
    })
    if (done) failpoint('after-batch-row-commit')
    await Promise.allSettled(afterCommit.map((act) => act()))
    return done
  } catch (error) {
    if (!row) throw error
    await refuse(ctx, row, error)
    return true
  }
}

async function createPayout(
  { database, clock }: EngineCtx,
  tx: Db,
  { approvedBy, approvalRequestId, identities, purposeOfTransfer }: PayoutBatch,
  { entityId, id, number: _, batchId: __, ...payment }: DueRow,
  afterCommit: (() => Promise<unknown>)[],
): Promise<void> {
  // A journal has restored it, or the batch was approved again in a restored database.
  if (await findPayout(tx, entityId, id)) return
  const by = { actor: approvedBy!, requestId: approvalRequestId! }
  const opening = {
    database,
    db: tx,
    entity: { id: entityId },
    ...by,
    receivedMs: clock.nowMs(),
    afterCommit,
  }
  await lockPayee(tx, entityId, payment.recipientId, 'recipient')
  await openPayout(opening, { ...payment, identities, purposeOfTransfer }, id)
}

/** Fails a row that its own facts refuse; any other error is retried later, behind the other rows. */
async function refuse(ctx: EngineCtx, row: DueRow, error: unknown): Promise<void> {
  const refusal = error instanceof InsufficientFunds ? new ApiError('payoutFundsInsufficient') : error
  if (refusal instanceof ApiError) {
    const { code, message: text } = refusal
    await ctx.database.tx(async (tx) => {
      // The batch before its row, as every worker locks them.
      await lockBatch(tx, row.entityId, row.batchId)
      await end(tx, ctx.clock.nowMs(), row, { code, text })
    })
    return
  }
  const { entityId, batchId, number } = row
  ctx.log.error(
    { err: error, entityId, batchId, row: number },
    'cannot create a payout of a batch yet; will retry',
  )
  await postponeRow(ctx.database, row, restMs)
}

/** Ends a row, and records that and the end of its batch with it. */
async function end(
  tx: Db,
  nowMs: number,
  row: DueRow,
  error: { code: number; text: string } | undefined,
): Promise<void> {
  const batch = await endRow(tx, row, error, formatInstant(nowMs))
  if (!batch) return
  const { entityId, batchId: resourceId, number } = row
  const change = { entityId, actor, resourceId }
  await recordChanges(tx, nowMs, [
    ...(error
      ? [{ ...change, type: 'payoutBatch.rowFailed', data: { row: number, error: error.text } }]
      : []),
    ...(batch.state === 'complete'
      ? [
          {
            ...change,
            type: 'payoutBatch.complete',
            data: { created: batch.createdCount, failed: batch.failedCount },
          },
        ]
      : []),
  ])
}
