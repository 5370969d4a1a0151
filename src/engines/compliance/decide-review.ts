import { ApiError, notFound } from '#lib/errors'
import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'
import { type Change, recordChanges } from '#runtime/record/store'
import type { EntityScope } from '#runtime/scope'
import { findReview, lockReview, type Review, type ReviewedResource, setReview } from './store/reviews.ts'

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

/** The effects of a decision on the value under review, in the decision's `tx`. */
export type UnderReview = {
  /**
   * Locks what is reviewed. False when no decision has an effect any more. Received value that was denied is still there: an
   * approval after the denial releases it.
   */
  lock(tx: Db): Promise<boolean>
  approve(tx: Db): Promise<void>
  deny(tx: Db, review: Review): Promise<void>
}

/**
 * Decides about value under review, in `db`'s tx. Where two have to approve, the first approval only counts. Throws
 * `reviewNotFound`, `reviewEnded`, and `reviewNeedsAnother` when the same operator approves twice.
 */
export async function applyReviewDecision(
  ctx: ReviewScope,
  { id, verdict, reason }: ReviewDecision,
  reviewedAs: (resource: ReviewedResource) => UnderReview,
): Promise<Review> {
  const { db: tx, actor, config } = ctx
  const nowMs = ctx.clock.nowMs()
  const entityId = ctx.entity.id
  const found = await findReview(tx, entityId, id)
  if (!found) throw notFound('review', id, 'reviewNotFound')
  const reviewed = reviewedAs(found.resource)
  // Before the review: engines lock what they work on first.
  const waits = await reviewed.lock(tx)
  const review = await lockReview(tx, entityId, id)
  const isOpen = review.state === 'pending' || (review.state === 'denied' && verdict === 'approve')
  if (!waits || !isOpen)
    throw new ApiError('reviewEnded', `The review is ${review.state} and cannot be decided again.`)
  const record = (decision: string) => {
    const type = `review.${decision}`
    const by: Pick<Change, 'actor' | 'requestId'> = { actor, requestId: ctx.requestId }
    return recordChanges(tx, nowMs, [{ entityId, ...by, type, resourceId: id, data: { reason } }])
  }
  if (verdict === 'deny') {
    await record('denied')
    await reviewed.deny(tx, review)
    return setReview(tx, nowMs, review, { ...review, state: 'denied', decidedBy: actor, reason })
  }
  if (config.reviewApprovers === 2 && review.firstApprover === null) {
    await record('approvedFirst')
    return setReview(tx, nowMs, review, { ...review, firstApprover: actor })
  }
  if (review.firstApprover === actor) throw new ApiError('reviewNeedsAnother')
  await record('approved')
  await reviewed.approve(tx)
  return setReview(tx, nowMs, review, { ...review, state: 'approved', decidedBy: actor, reason })
}
