import { redemptionBroughtBack } from '#engines/treasury/deposits/index'
import { findRedemption } from '#engines/treasury/disbursements/index'
import type { TopicEvent } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { showRedemption, showReturn } from './show-redemption.ts'

/** A payout in its state after the event. That its coins have left is no event for its owner. */
export async function redemptionNotification(db: Db, { entityId, resourceId, type, updateDate }: TopicEvent) {
  if (type === 'redemption.redeemed') return undefined
  const redemption = await findRedemption(db, entityId, resourceId)
  if (!redemption) return undefined
  if (redemption.updateDate === updateDate) return showRedemption(redemption)
  const none = { errorCode: null, riskReason: null, waiting: null, returnId: null, returnReason: null }
  // Pending again after a reorg, it is what it was before for its owner.
  if (type === 'redemption.pending' && updateDate === redemption.createDate)
    return showRedemption({
      ...redemption,
      ...none,
      trackingRef: null,
      externalRef: null,
      status: 'pending',
      updateDate,
    })
  if (type === 'redemption.complete')
    return showRedemption({ ...redemption, ...none, status: 'complete', updateDate })
  return showRedemption(redemption)
}

/** The return of a payout in its state after the event; undefined for a payout that failed at once. */
export async function returnNotification(db: Db, { entityId, resourceId, type, updateDate }: TopicEvent) {
  const id = await redemptionBroughtBack(db, entityId, resourceId)
  const redemption = id === undefined ? undefined : await findRedemption(db, entityId, id)
  const shown = redemption && showReturn(redemption)
  if (!shown || shown.updateDate === updateDate || type !== 'return.pending') return shown
  return { ...shown, status: 'pending', updateDate }
}
