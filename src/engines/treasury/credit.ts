import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { type Change, recordChanges } from '#runtime/record/store'
import {
  lockExpiredIntents,
  lockPaymentIntents,
  type PaymentIntent,
  updateStanding,
} from './store/payment-intents.ts'
import type { Payment } from './store/payments.ts'
import { entryAfterCredit, entryAtExpiry, type TimelineEntry } from './timeline.ts'

export const actor = 'treasury'

/** Adds settled payments to what their intents were paid; with `sign` -1 takes them back, after a reorg. */
export async function creditIntents(tx: Db, nowMs: number, payments: readonly Payment[], sign: 1n | -1n) {
  const sums = new Map<string, bigint>()
  for (const { paymentIntentId: id, amount } of payments)
    if (id !== null) sums.set(id, (sums.get(id) ?? 0n) + sign * amount)
  if (sums.size === 0) return
  const keys = payments.flatMap(({ entityId, paymentIntentId: id }) =>
    id === null ? [] : [{ entityId, id }],
  )
  for (const intent of await lockPaymentIntents(tx, keys)) {
    const credited = { ...intent, amountPaid: intent.amountPaid + sums.get(intent.id)! }
    const entry = entryAfterCredit(credited, nowMs)
    await saveStanding(tx, nowMs, credited, entry, 'paymentIntent.credited')
  }
}

/** Closes transient intents whose window has passed. Returns how many, at most `limit`. */
export async function expireIntents(tx: Db, nowMs: number, limit = 100): Promise<number> {
  const expired = await lockExpiredIntents(tx, formatInstant(nowMs), limit)
  for (const intent of expired) await saveStanding(tx, nowMs, intent, entryAtExpiry(intent, nowMs))
  return expired.length
}

async function saveStanding(
  tx: Db,
  nowMs: number,
  intent: PaymentIntent,
  entry: TimelineEntry | undefined,
  type?: string,
): Promise<void> {
  const next = entry
    ? {
        ...intent,
        status: entry.status,
        context: entry.context ?? null,
        timeline: [entry, ...intent.timeline],
      }
    : intent
  await updateStanding(tx, { ...next, updateDate: formatInstant(nowMs) })
  const { entityId, id: resourceId } = intent
  const changes: Change[] = []
  if (type)
    changes.push({ entityId, actor, type, resourceId, data: { amountPaid: String(intent.amountPaid) } })
  if (entry) changes.push({ entityId, actor, type: `paymentIntent.${entry.status}`, resourceId, data: entry })
  await recordChanges(tx, nowMs, changes)
}
