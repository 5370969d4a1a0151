import { findPayout, payoutStatuses } from '#engines/treasury/disbursements/index'
import type { TopicEvent } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { showPayout } from './show-payout.ts'

/** A payout in its state after the event. Its acceptance is reported even when it is superseded by now. */
export async function payoutNotification(db: Db, { entityId, resourceId, type, updateDate }: TopicEvent) {
  const payout = await findPayout(db, entityId, resourceId)
  const status = payoutStatuses.find((each) => type === `payout.${each}`)
  if (!payout || payout.updateDate === updateDate || status !== 'pending') return payout && showPayout(payout)
  const before = {
    status,
    transactionHash: null,
    errorCode: null,
    riskReason: null,
    waiting: null,
    updateDate,
  }
  return showPayout({ ...payout, ...before })
}
