import type { Config } from '#runtime/config'
import type { Db } from '#runtime/db/db'

/** Something that happened to a resource. */
export type TopicEvent = {
  entityId: string
  resourceId: string
  /** As it was recorded, such as `payment.paid`. */
  type: string
  /** The date that the resource has by it: each change dates it later than the one before. */
  updateDate: string
}

/** One kind of notification. */
export type Topic = {
  /** Its `notificationType`, such as `payments`. */
  name: string
  /** The member of the message that holds the resource, such as `payment`. */
  key: string
  /** The resource as its GET shows it, now or after the event; undefined when there is nothing to tell. */
  show: (db: Db, event: TopicEvent, config: Config) => Promise<object | undefined>
}

/** By the first part of the event's type; the trigger on `events` queues no others. */
export type Topics = Readonly<Record<string, Topic>>

export const topicOf = (topics: Topics, type: string): Topic | undefined => {
  const name = type.split('.')[0]!
  return Object.hasOwn(topics, name) ? topics[name] : undefined
}
