import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import { type Db, isDatabaseAway } from '#runtime/db/db'
import { defer, type Turn } from '#runtime/turns/store'
import {
  insertNotifications,
  lastNotifications,
  type NewNotification,
  type QueuedEvent,
  queuedTenants,
  takeQueued,
} from './store/queue.ts'
import { type Topics, topicOf } from './topics.ts'

/** Maximum events of one entity that one `tx` turns into notifications. */
const eventsMax = 200

/** Maximum entities in one round; later arrivals wait for its end. */
const entitiesMax = 10

/**
 * Turns queued events into notifications, one batch per entity, round-robin over entities. An entity whose events fail is
 * deferred. True when events were taken.
 */
export async function fanOut(ctx: EngineCtx, topics: Topics, turn: Turn): Promise<boolean> {
  let hasTaken = false
  for (const { entityId, createDate } of await queuedTenants(ctx.database, turn, entitiesMax))
    try {
      hasTaken = (await fanOutOf(ctx, topics, entityId)) || hasTaken
    } catch (error) {
      if (isDatabaseAway(error)) throw error
      ctx.log.error({ err: error, entityId }, 'writing notifications failed; retrying')
      const waitedMs = ctx.clock.nowMs() - Date.parse(createDate)
      await defer(ctx.database, turn.queue, '', [{ entityId, key: '', waitedMs }])
    }
  return hasTaken
}

const fanOutOf = (ctx: EngineCtx, topics: Topics, entityId: string): Promise<boolean> =>
  ctx.database.tx(async (tx) => {
    const events = await takeQueued(tx, entityId, eventsMax)
    if (events.length === 0) return false
    const notifications = await notificationsFor(ctx, tx, topics, entityId, events)
    if (notifications.length > 0)
      await insertNotifications(tx, entityId, notifications, formatInstant(ctx.clock.nowMs()))
    return true
  })

/** Builds the notifications for these events. Skips events that leave the resource unchanged since its last notification. */
async function notificationsFor(
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
  const sent = await lastNotifications(tx, entityId, named)
  const last = new Map(sent.map(({ topic, resourceId, message }) => [`${topic} ${resourceId}`, message]))
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
