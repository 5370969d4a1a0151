import { findFiatDeposit } from '#engines/treasury/deposits/index'
import type { TopicEvent } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { showDeposit } from './show-deposit.ts'

/** A deposit by wire in its state after the event. */
export async function depositNotification(db: Db, { entityId, resourceId, type, updateDate }: TopicEvent) {
  const deposit = await findFiatDeposit(db, entityId, resourceId)
  const status = (['pending', 'complete', 'failed'] as const).find((each) => type === `deposit.${each}`)
  if (!deposit || !status || deposit.updateDate === updateDate) return deposit && showDeposit(deposit)
  return showDeposit({ ...deposit, status, updateDate })
}
