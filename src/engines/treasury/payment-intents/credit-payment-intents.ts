import type { Db } from '#runtime/db/db'
import { type IntentChange, saveIntents } from './save-payment-intents.ts'
import { lockPaymentIntents } from './store.ts'
import { entryAfterCredit } from './timeline.ts'

type CreditedPayment = { entityId: string; paymentIntentId: string | null; amount: bigint }

/** Adds settled payments to the paid amounts of their intents; `sign` -1 subtracts them after a reorg. */
export async function creditIntents(
  tx: Db,
  nowMs: number,
  payments: readonly CreditedPayment[],
  sign: 1n | -1n,
): Promise<void> {
  const sums = new Map<string, bigint>()
  for (const { paymentIntentId: id, amount } of payments)
    if (id !== null) sums.set(id, (sums.get(id) ?? 0n) + sign * amount)
  if (sums.size === 0) return
  const keys = payments.flatMap(({ entityId, paymentIntentId: id }) =>
    id === null ? [] : [{ entityId, id }],
  )
  const changes = (await lockPaymentIntents(tx, keys)).map((intent): IntentChange => {
    const credited = { ...intent, amountPaid: intent.amountPaid + sums.get(intent.id)! }
    const { reason } = intent.timeline[0]!
    const entry = entryAfterCredit({ ...credited, reason }, nowMs)
    return { intent: credited, entry, type: 'paymentIntent.credited' }
  })
  await saveIntents(tx, nowMs, changes)
}
