import { findPayout } from '#engines/treasury/index'
import type { TopicEvent } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { showPayout } from './show-payout.ts'

/** A payout as its owner sees it now. */
export async function tellPayout(db: Db, { entityId, resourceId }: TopicEvent) {
  const payout = await findPayout(db, entityId, resourceId)
  return payout && showPayout(payout)
}
