import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import { type Db, isDatabaseAway } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { recordChanges } from '#runtime/record/store'
import { defer, type Turn } from '#runtime/turns/store'
import {
  backlogMax,
  type FullBacklog,
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

/** Time for which an event is held at most: the node that has the missing part may be away. */
export const heldMaxMs = 10_000

const heldBefore = ({ clock }: EngineCtx) => formatInstant(clock.nowMs() - heldMaxMs)

/**
 * Turns queued events into notifications, one batch per entity, round-robin over entities. An entity whose events fail is
 * deferred. True when events were taken.
 */
export async function fanOut(ctx: EngineCtx, topics: Topics, turn: Turn): Promise<boolean> {
  let hasTaken = false
  const tenants = await queuedTenants(ctx.database, turn, heldBefore(ctx), entitiesMax)
  for (const { entityId, createDate } of tenants)
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
    const events = await takeQueued(tx, entityId, heldBefore(ctx), eventsMax)
    if (events.length === 0) return false
    const notifications = await notificationsFor(ctx, tx, topics, entityId, events)
    if (notifications.length === 0) return true
    const nowMs = ctx.clock.nowMs()
    const full = await insertNotifications(tx, entityId, notifications, formatInstant(nowMs))
    await reportFull(ctx, tx, entityId, full, nowMs)
    return true
  })

/** Time after which an endpoint that still does not keep up is reported again. */
const reportedEachMs = 3_600_000

/** Tells the owner and the operator of endpoints of which waiting notifications are dropped. */
async function reportFull(
  ctx: EngineCtx,
  tx: Db,
  entityId: string,
  full: readonly FullBacklog[],
  nowMs: number,
): Promise<void> {
  const isDue = ({ droppedDate }: FullBacklog) =>
    droppedDate === null || nowMs - Date.parse(droppedDate) > reportedEachMs
  for (const { id, endpoint } of full.filter(isDue)) {
    const data = { endpoint, backlogMax }
    const change = { entityId, actor: 'webhooks', type: 'subscription.dropping', resourceId: id, data }
    await recordChanges(tx, nowMs, [change])
    raiseAlarm(
      ctx.log,
      'webhook-backlog-full',
      { entityId, subscriptionId: id, ...data },
      'an endpoint does not keep up: its oldest waiting notifications are dropped',
    )
  }
}

/** Builds the notifications for these events. Skips events that leave the resource unchanged since its last notification. */
async function notificationsFor(
  { config }: EngineCtx,
  tx: Db,
  topics: Topics,
  entityId: string,
  events: readonly QueuedEvent[],
): Promise<NewNotification[]> {
  const shown: (QueuedEvent & Content)[] = []
  for (const event of events) {
    const content = await contentOf(tx, topics, event, config)
    if (content) shown.push({ ...event, ...content })
  }
  const nameOf = ({ topic, resourceId }: { topic: string; resourceId: string }) => `${topic} ${resourceId}`
  const sent = await lastNotifications(tx, entityId, shown)
  const last = new Map(sent.map((each) => [nameOf(each), each]))
  const made: NewNotification[] = []
  for (const { id, line, topic, resourceId, updateDate, message, about } of shown) {
    const before = last.get(nameOf({ topic, resourceId }))
    if (before?.message === message) continue
    // Time alone could repeat: two states may be recorded with one change of the resource.
    const orderNumber = Math.max(Date.parse(updateDate), (before?.orderNumber ?? 0) + 1)
    const next = { id, line, topic, resourceId, message, orderNumber, about }
    last.set(nameOf(next), next)
    made.push(next)
  }
  return made
}

type Content = Pick<NewNotification, 'line' | 'topic' | 'message' | 'about'>

async function contentOf(
  tx: Db,
  topics: Topics,
  event: QueuedEvent,
  config: EngineCtx['config'],
): Promise<Content | undefined> {
  const topic = topicOf(topics, event.type)
  if (topic?.line === 'v2') {
    const shown = await topic.show(tx, event, config)
    if (!shown) return undefined
    const { notificationType, notification, about } = shown
    return { line: 'v2', topic: notificationType, message: JSON.stringify(notification), about }
  }
  const resource = await topic?.show(tx, event, config)
  if (!topic || !resource) return undefined
  const message = JSON.stringify({
    clientId: event.entityId,
    notificationType: topic.name,
    version: 1,
    customAttributes: { clientId: event.entityId },
    [topic.key]: resource,
  })
  return { line: 'v1', topic: topic.name, message }
}
