import {
  applyReviewDecision as decide,
  type Review,
  type ReviewDecision,
  type ReviewScope,
} from '#engines/compliance/index'
import { transactionUnderReview } from '#engines/transactions/index'
import { depositUnderReview } from './deposits/under-review.ts'

/**
 * Decides about a transaction or a deposit under review, in `ctx.db`'s tx. Throws `reviewNotFound`, `reviewEnded`, and
 * `reviewNeedsAnother` when the same operator approves twice.
 */
export function decideReview(ctx: ReviewScope, decision: ReviewDecision): Promise<Review> {
  const ref = { entityId: ctx.entity.id, id: decision.id }
  return decide(ctx, decision, (resource) =>
    resource === 'transaction'
      ? transactionUnderReview(ctx, ref)
      : depositUnderReview(ctx.clock, resource, ref),
  )
}
