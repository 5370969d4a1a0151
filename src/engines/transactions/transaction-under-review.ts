import type { UnderReview } from '#engines/compliance/index'
import { resolveHolds } from '#engines/ledger/holds/index'
import { type Clock, formatInstant } from '#lib/time'
import { recordChanges } from '#runtime/record/store'
import { denyUnsigned } from './fail-unsent.ts'
import { clearReviewed, lockReviewed } from './store/screening.ts'
import { announceWork, type Ref } from './store/transactions.ts'

/**
 * An outbound transaction is signed after an approval, and ends after a denial. The money of a received one is held until an
 * approval.
 */
export function transactionUnderReview(
  ctx: { clock: Clock; actor: string; requestId?: string },
  ref: Ref,
): UnderReview {
  const { entityId, id } = ref
  const nowMs = ctx.clock.nowMs()
  let isReceived = false
  let blockchain = ''
  return {
    async lock(tx) {
      const found = await lockReviewed(tx, ref)
      isReceived = found?.transactionType === 'INBOUND'
      blockchain = found?.blockchain ?? ''
      return found !== undefined
    },
    async approve(tx) {
      if (isReceived)
        return resolveHolds(tx, nowMs, [{ entityId, intentId: id, purpose: 'review', outcome: 'voided' }])
      const evaluation = { actions: ['APPROVE'], reasons: [], screeningDate: formatInstant(nowMs) } as const
      await clearReviewed(tx, nowMs, ref, evaluation)
      const { actor, requestId } = ctx
      await recordChanges(tx, nowMs, [
        {
          entityId,
          actor,
          requestId,
          type: 'transaction.cleared',
          resourceId: id,
          data: { state: 'CLEARED' },
        },
      ])
      await announceWork(tx, blockchain)
    },
    async deny(tx, { ruleName }) {
      if (isReceived) return
      const details = 'an operator denied it; nothing was signed or sent'
      await denyUnsigned(tx, ctx, [{ entityId, id, ruleName, details }])
    },
  }
}
