import { findPayment, type PaymentStatus } from '#engines/treasury/deposits/index'
import type { TopicEvent } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { showPayment } from './show-payment.ts'

/** The status that each event leaves its payment in. */
const statuses: Record<string, PaymentStatus> = {
  'payment.pending': 'pending',
  'payment.orphaned': 'pending',
  'payment.confirmed': 'confirmed',
  'payment.paid': 'paid',
  'payment.failed': 'failed',
}

/** A payment in its state after the event. Each step is reported, even one that is superseded by now. */
export async function paymentNotification(db: Db, { entityId, resourceId, type, updateDate }: TopicEvent) {
  const payment = await findPayment(db, entityId, resourceId)
  if (!payment) return undefined
  const status = statuses[type] ?? payment.status
  const isNow = updateDate === payment.updateDate
  return showPayment({ ...payment, status, ...(!isNow && { waiting: null }), updateDate })
}
