import { findRecipient, findRecipientAddress, recipientStatuses } from '#engines/treasury/address-book/index'
import type { TopicEvent } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { showRecipient } from './show-recipient.ts'

/**
 * A recipient in its state after the event, as its GET shows it; `undefined` once it is deleted. Each status is reported,
 * even one that is superseded by now. Recipient addresses are reported in the same form.
 */
export async function recipientNotification(db: Db, { entityId, resourceId, type, updateDate }: TopicEvent) {
  const status = recipientStatuses.find((each) => type === `addressBookRecipient.${each}`)
  if (!status) return undefined
  const recipient = await findRecipient(db, entityId, resourceId)
  if (recipient) return showRecipient({ ...recipient, status, updateDate })
  const stored = await findRecipientAddress(db, entityId, resourceId)
  if (!stored) return undefined
  const metadata = { nickname: stored.description, email: null, bns: null }
  return showRecipient({ ...stored, ...metadata, status, updateDate, holdUntil: null })
}
