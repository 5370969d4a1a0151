import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'

/** An event of a resource. */
export type TopicEvent = {
  entityId: string
  resourceId: string
  /** The event type as recorded, such as `payment.paid`. */
  type: string
  /** The resource's update date after the event; each change sets a later date than the one before. */
  updateDate: string
  /** The changing part of the resource after the event, of kinds whose view in `notified_kinds` has one. */
  snapshot: Record<string, unknown> | null
}

/** The two lines of notifications: v1 of the business account, v2 of the wallet product. */
export type Line = 'v1' | 'v2'

/** One kind of v1 notification. */
type Topic = {
  line: 'v1'
  /** Its `notificationType`, such as `payments`. */
  name: string
  /** The member of the message that holds the resource, such as `payment`. */
  key: string
  /** The resource as its GET returns it, now or after the event; undefined when there is nothing to notify. */
  show: (db: Db, event: TopicEvent, config: Config) => Promise<object | undefined>
}

/** One kind of resource whose v2 notifications have types of their own, such as `transactions.inbound`. */
type WebhookTopic = {
  line: 'v2'
  /** The type, and the resource as its GET returned it after the event; undefined when there is nothing to notify. */
  show: (db: Db, event: TopicEvent, config: Config) => Promise<WebhookContent | undefined>
}

/** The address on the chain of a domain that a notification is about, where only those who watch it receive it. */
export type WatchedAddress = { address: string; domain: number }

export type WebhookContent = { notificationType: string; notification: object; about?: WatchedAddress }

/** Topics by the first part of the event type; the trigger on `events` queues no other events. */
export type Topics = Readonly<Record<string, Topic | WebhookTopic>>

export const topicOf = (topics: Topics, type: string): Topic | WebhookTopic | undefined => {
  const name = type.split('.')[0]!
  return Object.hasOwn(topics, name) ? topics[name] : undefined
}
