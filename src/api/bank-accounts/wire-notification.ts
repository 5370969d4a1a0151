import { findBankAccount } from '#engines/treasury/banking/index'
import type { TopicEvent } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { showBankAccount } from './show-bank-account.ts'

/** A linked bank account in its state after the event. */
export async function wireNotification(db: Db, { entityId, resourceId, type, updateDate }: TopicEvent) {
  const account = await findBankAccount(db, entityId, resourceId)
  if (!account) return undefined
  const isPast = account.updateDate !== updateDate && type === 'wire.pending'
  return showBankAccount(isPast ? { ...account, status: 'pending', updateDate } : account)
}
