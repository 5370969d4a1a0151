import { eraseGrants } from '#custody/index'
import { releaseAllowance } from '#custody/policy/index'
import { withdrawReviews } from '#engines/compliance/index'
import { resolveHolds } from '#engines/ledger/holds/index'
import type { Clock } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { markDenied } from './store/screening.ts'
import { releaseSponsorships } from './store/sponsorships.ts'
import { markFailed, type Ref } from './store/transactions.ts'

export type Failure = Ref & { reason: string; details: string }

/** Fails intents of which nothing was ever sent, and releases what they hold. */
export async function failUnsentTransactions(
  tx: Db,
  ctx: { clock: Clock },
  failed: readonly Failure[],
): Promise<void> {
  if (failed.length === 0) return
  await markFailed(tx, ctx.clock.nowMs(), failed)
  await withdrawReviews(tx, ctx.clock.nowMs(), failed)
  await release(tx, ctx, 'FAILED', failed)
}

type Denial = Ref & { ruleName: string; details: string }

/** Denies intents that nothing was signed for, and releases what they hold. */
export async function denyUnsigned(tx: Db, ctx: { clock: Clock }, denied: readonly Denial[]): Promise<void> {
  if (denied.length === 0) return
  await markDenied(tx, ctx.clock.nowMs(), denied)
  await release(
    tx,
    ctx,
    'DENIED',
    denied.map(({ ruleName, ...ref }) => ({ ...ref, reason: ruleName })),
  )
}

/** Voids the holds of intents that ended without effect, releases their allowance and gas, and erases their grants. */
async function release(
  tx: Db,
  { clock }: { clock: Clock },
  state: 'FAILED' | 'DENIED',
  ended: readonly (Ref & { reason: string })[],
): Promise<void> {
  const nowMs = clock.nowMs()
  const intents = ended.map(({ entityId, id }) => ({ entityId, intentId: id }))
  await resolveHolds(
    tx,
    nowMs,
    intents.map((intent) => ({ ...intent, outcome: 'voided' })),
  )
  await eraseGrants(tx, intents)
  await releaseAllowance(tx, nowMs, intents)
  await releaseSponsorships(tx, nowMs, ended)
  await recordChanges(
    tx,
    nowMs,
    ended.map(({ entityId, id, reason }) => ({
      entityId,
      actor: 'transactions',
      type: `transaction.${state.toLowerCase()}`,
      resourceId: id,
      data: { state, reason },
    })),
  )
}
