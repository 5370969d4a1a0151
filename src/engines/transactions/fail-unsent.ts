import { eraseGrants, releaseAllowance } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import { resolveHolds } from '#engines/ledger/index'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { markFailed } from './store/transactions.ts'

export type Failure = { entityId: string; id: string; reason: string; details: string }

/** Fails intents of which nothing was ever sent: voids their holds, releases their allowance and erases their grants. */
export async function failUnsent(tx: Db, ctx: EngineCtx, failed: readonly Failure[]): Promise<void> {
  if (failed.length === 0) return
  const nowMs = ctx.clock.nowMs()
  const intents = failed.map(({ entityId, id }) => ({ entityId, intentId: id }))
  await markFailed(tx, nowMs, failed)
  await resolveHolds(
    tx,
    nowMs,
    intents.map((intent) => ({ ...intent, outcome: 'voided' })),
  )
  await eraseGrants(tx, intents)
  await releaseAllowance(tx, nowMs, intents)
  await recordChanges(
    tx,
    nowMs,
    failed.map(({ entityId, id, reason }) => ({
      entityId,
      actor: 'transactions',
      type: 'transaction.failed',
      resourceId: id,
      data: { state: 'FAILED', reason },
    })),
  )
}
