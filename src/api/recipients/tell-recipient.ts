import { findRecipient, findRecipientAddress, recipientStatuses } from '#engines/treasury/index'
import type { TopicEvent } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { showRecipient } from './show-recipient.ts'

/**
 * A recipient as it was after the event, as its GET shows it; nothing once it is deleted. Each status is told, also one
 * that was over before anybody could look. Addresses to withdraw to are told in the same words.
 */
export async function tellRecipient(db: Db, { entityId, resourceId, type, updateDate }: TopicEvent) {
  const status = recipientStatuses.find((each) => type === `addressBookRecipient.${each}`)
  if (!status) return undefined
  const recipient = await findRecipient(db, entityId, resourceId)
  if (recipient) return showRecipient({ ...recipient, status, updateDate })
  const stored = await findRecipientAddress(db, entityId, resourceId)
  if (!stored) return undefined
  const metadata = { nickname: stored.description, email: null, bns: null }
  return showRecipient({ ...stored, ...metadata, status, updateDate, holdUntil: null })
}
