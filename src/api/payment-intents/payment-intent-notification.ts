import type { TopicEvent } from '#engines/webhooks/index'
import type { Db } from '#runtime/db/db'
import { readPaymentIntent } from './read-payment-intents.ts'

/** A payment intent as its GET shows it. */
export const paymentIntentNotification = (db: Db, { entityId, resourceId }: TopicEvent) =>
  readPaymentIntent(db, entityId, resourceId)
