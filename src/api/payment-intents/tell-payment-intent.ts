import { findPaymentIntent, paymentIdsOf } from '#engines/treasury/index'
import type { TopicEvent } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { showPaymentIntent } from './show-payment-intent.ts'

/** A payment intent as its GET shows it. */
export async function tellPaymentIntent(
  db: Db,
  { entityId, resourceId }: Pick<TopicEvent, 'entityId' | 'resourceId'>,
) {
  const intent = await findPaymentIntent(db, entityId, resourceId)
  if (!intent) return undefined
  if (intent.type === 'continuous') return showPaymentIntent(intent)
  return showPaymentIntent(intent, await paymentIdsOf(db, entityId, resourceId))
}
