import { findPayment, type PaymentStatus } from '#engines/treasury/index'
import type { TopicEvent } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { showPayment } from './show-payment.ts'

/** Steps of a payment in their order; a block may take several at once. */
const steps: readonly PaymentStatus[] = ['pending', 'confirmed', 'paid']

/** A payment as it was after the event: each step is told, also one that was over before anybody could look. */
export async function tellPayment(db: Db, { entityId, resourceId, type }: TopicEvent) {
  const payment = await findPayment(db, entityId, resourceId)
  if (!payment) return undefined
  const step = steps.find((status) => type === `payment.${status}`)
  const isPast = step !== undefined && steps.indexOf(step) < steps.indexOf(payment.status)
  return showPayment(isPast ? { ...payment, status: step } : payment)
}
