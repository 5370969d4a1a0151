import { lockReview, type Review, setReview } from '#engines/compliance/index'
import { ApiError, notFound } from '#lib/errors'
import type { Config } from '#runtime/config'
import { recordChanges } from '#runtime/record/store'
import type { EntityScope } from '#runtime/scope'
import { denyUnsigned } from './end-unsent.ts'
import { clearReviewed, lockReviewed } from './store/screening.ts'
import { announceWork } from './store/transactions.ts'

export type ReviewDecision = {
  id: string
  verdict: 'approve' | 'deny'
  /** Why, for the audit log. */
  reason: string
}

export type ReviewScope = Pick<EntityScope, 'db' | 'clock' | 'entity' | 'actor'> & {
  config: Pick<Config, 'reviewApprovers'>
  requestId?: string
}

/**
 * Decides about a transaction under review, in `db`'s tx: `approve` lets it be signed, `deny` ends it and releases what it
 * holds. Where two have to approve, the first approval only counts. Throws `reviewNotFound`, `reviewEnded`, and
 * `reviewNeedsAnother` when the same operator approves twice.
 */
export async function decideReview(
  ctx: ReviewScope,
  { id, verdict, reason }: ReviewDecision,
): Promise<Review> {
  const { db: tx, actor, config } = ctx
  const nowMs = ctx.clock.nowMs()
  const entityId = ctx.entity.id
  // Signers lock the transaction first.
  const transaction = await lockReviewed(tx, { entityId, id })
  const review = await lockReview(tx, entityId, id)
  if (!review) throw notFound('review', id, 'reviewNotFound')
  if (review.state !== 'pending' || !transaction)
    throw new ApiError('reviewEnded', `The review is ${review.state} and cannot be decided again.`)
  const change = (type: string, data: Record<string, string> = { reason }) => {
    return { entityId, actor, requestId: ctx.requestId, type, resourceId: id, data }
  }
  if (verdict === 'deny') {
    await recordChanges(tx, nowMs, [change('review.denied')])
    const details = 'an operator denied it; nothing was signed or sent'
    await denyUnsigned(tx, ctx, [{ entityId, id, ruleName: review.ruleName, details }])
    return setReview(tx, nowMs, review, { ...review, state: 'denied', decidedBy: actor, reason })
  }
  if (config.reviewApprovers === 2 && review.firstApprover === null) {
    await recordChanges(tx, nowMs, [change('review.approvedFirst')])
    return setReview(tx, nowMs, review, { ...review, firstApprover: actor })
  }
  if (review.firstApprover === actor) throw new ApiError('reviewNeedsAnother')
  await clearReviewed(tx, nowMs, { entityId, id })
  await recordChanges(tx, nowMs, [
    change('review.approved'),
    change('transaction.cleared', { state: 'CLEARED' }),
  ])
  await announceWork(tx, transaction.blockchain)
  return setReview(tx, nowMs, review, { ...review, state: 'approved', decidedBy: actor, reason })
}
