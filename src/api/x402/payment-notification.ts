import { findSignedPayment } from '#engines/facilitator/index'
import type { TopicEvent, WebhookContent } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { showX402Payment } from './settle-payment.ts'

/** The fields of its transaction that change, as the view `notified_resources` keeps them at each event. */
type TransactionSnapshot = {
  state: string
  txHash: string | null
  errorReason: string | null
  errorDetails: string | null
}

/** States of a transaction that change how its payment is shown. */
const toldStates = ['SENT', 'CONFIRMED', 'COMPLETE', 'FAILED', 'DENIED', 'CANCELLED']

/** A payment as its GET showed it when its transaction changed, or when it was decided without one. */
export async function x402PaymentNotification(
  db: Db,
  { entityId, resourceId, type, snapshot }: TopicEvent,
): Promise<WebhookContent | undefined> {
  // A payment that was refused for good, or settled for nothing, has no transaction.
  const isDecided = type === 'x402Payment.refused' || type === 'x402Payment.settled'
  const transaction = snapshot as TransactionSnapshot | null
  if (!isDecided && !toldStates.some((state) => type === `transaction.${state.toLowerCase()}`))
    return undefined
  const payment = await findSignedPayment(db, entityId, resourceId)
  if (!payment) return undefined
  const { state, txHash, errorReason, errorDetails } = transaction ?? payment
  const then = { ...payment, state, txHash, errorReason, errorDetails }
  return { notificationType: 'x402.payment', notification: showX402Payment(then) }
}
