import { findRecipient } from '#engines/treasury/index'
import type { TopicEvent } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { showRecipient } from './show-recipient.ts'

/** A recipient as its GET shows it; nothing once it is deleted. */
export async function tellRecipient(db: Db, { entityId, resourceId }: TopicEvent) {
  const recipient = await findRecipient(db, entityId, resourceId)
  return recipient && showRecipient(recipient)
}
