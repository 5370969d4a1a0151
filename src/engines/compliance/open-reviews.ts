import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { insertReviews, type NewReview } from './store/reviews.ts'

/** Opens reviews; one that was withdrawn is opened again, and one that was decided stays so. */
export async function openReviews(tx: Db, nowMs: number, opened: readonly NewReview[]): Promise<void> {
  if (opened.length === 0) return
  const made = await insertReviews(tx, nowMs, opened)
  await recordChanges(
    tx,
    nowMs,
    made.map(({ entityId, id, ...data }) => ({
      entityId,
      actor: 'screening',
      type: 'review.opened',
      resourceId: id,
      data,
    })),
  )
}
