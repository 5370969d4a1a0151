import type { Network } from '#chains/networks/index'
import { openReviews, reviewerOf, reviewStatesOf, withdrawReviews } from '#engines/compliance/index'
import type { EngineCtx } from '#engines/ctx'
import { heldFor, placeHolds, resolveHolds } from '#engines/ledger/holds/index'
import type { Db } from '#runtime/db/db'
import type { RecordedTransfer } from './store/chain-effects.ts'
import type { Ref } from './store/transactions.ts'

/**
 * Opens the reviews that the decisions about received transfers ask for, and holds the money of those that are not
 * approved: also money that was spent in the moment before, so that nothing else of the wallet can leave instead.
 */
export async function holdReviewed(
  ctx: EngineCtx,
  tx: Db,
  { blockchain, environment }: Network,
  received: readonly RecordedTransfer[],
): Promise<void> {
  const reviewer = reviewerOf(environment === 'TEST', ctx.config)
  const asked = received.filter(({ screening }) => screening?.actions.includes('REVIEW'))
  if (asked.length === 0 || reviewer === 'approve') return
  const nowMs = ctx.clock.nowMs()
  await openReviews(
    tx,
    nowMs,
    asked.map(({ entityId, id, screening }) => ({
      entityId,
      id,
      resource: 'transaction',
      ruleName: screening!.ruleName!,
      state: reviewer === 'operator' ? 'pending' : 'denied',
    })),
  )
  const approved = (await reviewStatesOf(tx, asked)).filter(({ state }) => state === 'approved')
  const held = await heldFor(tx, 'review', asked.map(intentOf))
  const free = new Set([
    ...approved.map(keyOf),
    ...held.map(({ entityId, intentId: id }) => `${entityId} ${id}`),
  ])
  const holds = asked
    .filter((row) => !free.has(keyOf(row)))
    .map(({ address, tokenId, amountAtomic, ...ref }) => ({
      ...intentOf(ref),
      blockchain,
      address,
      tokenId,
      amountAtomic,
      purpose: 'review' as const,
    }))
  await placeHolds(tx, nowMs, holds, { regardless: true })
}

/** Ends the reviews and holds of received transfers whose block was orphaned. */
export async function releaseReviewed(ctx: EngineCtx, tx: Db, failed: readonly Ref[]): Promise<void> {
  if (failed.length === 0) return
  const nowMs = ctx.clock.nowMs()
  await withdrawReviews(tx, nowMs, failed)
  await resolveHolds(
    tx,
    nowMs,
    failed.map((ref) => ({ ...intentOf(ref), purpose: 'review', outcome: 'voided' })),
  )
}

const intentOf = ({ entityId, id }: Ref) => ({ entityId, intentId: id })
const keyOf = ({ entityId, id }: Ref) => `${entityId} ${id}`
