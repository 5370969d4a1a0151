import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import type { Turn } from '#runtime/turns/store'
import { saveIntents } from './save-payment-intents.ts'
import { type IntentKey, lockExpiredIntents, lockPaymentIntents, type PaymentIntent } from './store.ts'
import { entryAtExpiry, entryOnRequest, isClosedOnRequest } from './timeline.ts'

/** Closes transient intents whose window has passed. Returns their number, at most `limit`. */
export async function expireIntents(tx: Db, turn: Turn, nowMs: number, limit: number): Promise<number> {
  const expired = await lockExpiredIntents(tx, turn, formatInstant(nowMs), limit)
  const changes = expired.map((intent) => ({ intent, entry: entryAtExpiry(intent, nowMs) }))
  await saveIntents(tx, nowMs, changes)
  return expired.length
}

/**
 * Closes a pending transient intent at its merchant's request; one that is already closed that way is returned unchanged.
 * `unknown`: there is no such intent; `cannot`: it is continuous, or ended for another reason.
 */
export async function expireOnRequest(
  tx: Db,
  nowMs: number,
  { entityId, id, ...by }: IntentKey & { actor: string; requestId: string },
): Promise<PaymentIntent | 'unknown' | 'cannot'> {
  const [intent] = await lockPaymentIntents(tx, [{ entityId, id }])
  if (!intent) return 'unknown'
  const { reason } = intent.timeline[0]!
  if (isClosedOnRequest({ ...intent, reason })) return intent
  if (intent.status !== 'pending' || intent.amount === null) return 'cannot'
  const closed = { ...intent, expiresOn: formatInstant(nowMs) }
  const change = { intent: closed, entry: entryOnRequest(intent, intent.amount, nowMs), by }
  return (await saveIntents(tx, nowMs, [change]))[0]!
}
