import { ApiError, invalid } from '#lib/errors'
import type { Db } from '#runtime/db/db'
import { lockRecipient, type Recipient } from './store/recipients.ts'

/**
 * Returns the recipient that is to be paid, locked so that no request deletes it before its payout is accepted; or throws the
 * documented error at the field `at`.
 */
export async function lockPayee(tx: Db, entityId: string, id: string, at: string): Promise<Recipient> {
  const recipient = await lockRecipient(tx, entityId, id, 'share')
  if (!recipient)
    throw invalid({
      at,
      reason: 'is not a recipient of the address book',
      value: id,
      kind: 'payeeNotFound',
    })
  if (recipient.status !== 'active') throw new ApiError('payeeInactive')
  return recipient
}
