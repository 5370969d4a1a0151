import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { saveIntents } from './save-payment-intents.ts'
import { lockPaymentIntents, type PaymentIntent } from './store.ts'

/** Adds an accepted refund to the refunded amount of its intent. The first refund ends the intent for good. */
export async function addRefund(
  tx: Db,
  nowMs: number,
  intent: PaymentIntent,
  amount: bigint,
  by: { actor: string; requestId: string },
): Promise<void> {
  const refunded = { ...intent, amountRefunded: intent.amountRefunded + amount }
  const entry = { status: 'refunded', time: formatInstant(nowMs) } as const
  await saveIntents(tx, nowMs, [
    { intent: refunded, entry: intent.status === 'refunded' ? undefined : entry, by },
  ])
}

/**
 * Changes the refunded amounts of intents: `sign` -1 for failed refunds, so that the amount can be refunded again, and 1 when
 * a reorg reopens a failed refund.
 */
export async function changeRefunded(
  tx: Db,
  nowMs: number,
  refunds: readonly { entityId: string; paymentIntentId: string | null; amount: bigint }[],
  sign: 1n | -1n,
): Promise<void> {
  for (const { entityId, paymentIntentId, amount } of refunds) {
    const [intent] = await lockPaymentIntents(tx, [{ entityId, id: paymentIntentId! }])
    const changed = { ...intent!, amountRefunded: intent!.amountRefunded + sign * amount }
    await saveIntents(tx, nowMs, [{ intent: changed }])
  }
}
