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
}

/** One kind of notification. */
export type Topic = {
  /** Its `notificationType`, such as `payments`. */
  name: string
  /** The member of the message that holds the resource, such as `payment`. */
  key: string
  /** The resource as its GET returns it, now or after the event; undefined when there is nothing to notify. */
  show: (db: Db, event: TopicEvent, config: Config) => Promise<object | undefined>
}

/** Topics by the first part of the event type; the trigger on `events` queues no other events. */
export type Topics = Readonly<Record<string, Topic>>

export const topicOf = (topics: Topics, type: string): Topic | undefined => {
  const name = type.split('.')[0]!
  return Object.hasOwn(topics, name) ? topics[name] : undefined
}
