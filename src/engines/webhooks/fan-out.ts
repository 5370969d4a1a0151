import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import {
  insertNotifications,
  lastTold,
  type NewNotification,
  type QueuedEvent,
  takeQueued,
} from './store/queue.ts'
import { type Topics, topicOf } from './topics.ts'

/** Events of one entity that one `tx` turns into notifications. */
const eventsMax = 200

/**
 * Turns queued events of one entity, the next one after `after`, into notifications of its subscriptions. Resolves with
 * that entity, if there was any.
 */
export async function fanOut(ctx: EngineCtx, topics: Topics, after: string): Promise<string | undefined> {
  return ctx.database.tx(async (tx) => {
    const events = await takeQueued(tx, after, eventsMax)
    const [first] = events
    if (!first) return undefined
    const notifications = await tell(ctx, tx, topics, first.entityId, events)
    if (notifications.length > 0)
      await insertNotifications(tx, first.entityId, notifications, formatInstant(ctx.clock.nowMs()))
    return first.entityId
  })
}

/** What has not been told yet: events after which a resource looks as it did before are passed over. */
async function tell(
  { config }: EngineCtx,
  tx: Db,
  topics: Topics,
  entityId: string,
  events: readonly QueuedEvent[],
): Promise<NewNotification[]> {
  const named = events.flatMap(({ type, resourceId }) => {
    const topic = topicOf(topics, type)?.name
    return topic === undefined ? [] : [{ topic, resourceId }]
  })
  const told = await lastTold(tx, entityId, named)
  const last = new Map(told.map(({ topic, resourceId, message }) => [`${topic} ${resourceId}`, message]))
  const made: NewNotification[] = []
  for (const { id, type, resourceId, updateDate } of events) {
    const topic = topicOf(topics, type)
    const shown = await topic?.show(tx, { entityId, resourceId, type, updateDate }, config)
    if (!topic || !shown) continue
    const message = JSON.stringify({
      clientId: entityId,
      notificationType: topic.name,
      version: 1,
      customAttributes: { clientId: entityId },
      [topic.key]: shown,
    })
    const name = `${topic.name} ${resourceId}`
    if (last.get(name) === message) continue
    last.set(name, message)
    made.push({ entityId, id, topic: topic.name, resourceId, message })
  }
  return made
}
