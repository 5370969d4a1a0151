import type { EngineCtx } from '#engines/ctx'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { type Db, isDatabaseAway, sql } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { recordChanges } from '#runtime/record/store'
import { defer, type Turn } from '#runtime/turns/store'
import {
  backlogMax,
  type FullBacklog,
  holdQueued,
  insertNotifications,
  lastNotifications,
  type NewNotification,
  oldestQueued,
  type QueuedEvent,
  serveQueued,
  takeQueued,
} from './store/queue.ts'
import { type Topics, topicOf } from './topics.ts'

/** Maximum events of one entity that one `tx` turns into notifications. */
const eventsMax = 200

/** Maximum entities in one round; later arrivals wait for its end. */
const entitiesMax = 10

/** Time for which an event is held at most: the node that has the missing part may be away. */
export const heldMaxMs = 10_000

/** Age from which an event that still cannot be shown is dropped. */
const shownWithinMs = 3_600_000

const heldBefore = ({ clock }: EngineCtx) => formatInstant(clock.nowMs() - heldMaxMs)

/**
 * Turns queued events into notifications, one batch per entity, round-robin over entities. An entity whose events fail is
 * deferred. True when events were taken.
 */
export async function fanOut(ctx: EngineCtx, topics: Topics, turn: Turn): Promise<boolean> {
  const serve = (entityId: string) =>
    fanOutOf(ctx, topics, entityId).catch(async (error: unknown) => {
      if (isDatabaseAway(error)) throw error
      ctx.log.error({ err: error, entityId }, 'writing notifications failed; retrying')
      const nowMs = ctx.clock.nowMs()
      const oldest = await oldestQueued(ctx.database, entityId)
      const waitedMs = oldest ? nowMs - Date.parse(oldest.createDate) : 0
      await defer(ctx.database, turn.queue, '', [{ entityId, key: '', waitedMs }])
      return false
    })
  return (await serveQueued(ctx.database, turn, heldBefore(ctx), entitiesMax, serve)).length > 0
}

const fanOutOf = (ctx: EngineCtx, topics: Topics, entityId: string): Promise<boolean> =>
  ctx.database.tx(async (tx) => {
    const events = await takeQueued(tx, entityId, heldBefore(ctx), eventsMax)
    if (events.length === 0) return false
    const nowMs = ctx.clock.nowMs()
    const notifications = await notificationsFor(ctx, tx, topics, entityId, events, nowMs)
    if (notifications.length === 0) return true
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

/**
 * Builds the notifications for these events. Skips events that leave the resource unchanged since its last notification. The ids begin
 * with `nowMs`, their date: deliveries, which have them in their indexes, are listed in their order.
 */
async function notificationsFor(
  ctx: EngineCtx,
  tx: Db,
  topics: Topics,
  entityId: string,
  events: readonly QueuedEvent[],
  nowMs: number,
): Promise<NewNotification[]> {
  const shown = await shownOf(ctx, tx, topics, entityId, events)
  const nameOf = ({ topic, resourceId }: { topic: string; resourceId: string }) => `${topic} ${resourceId}`
  const sent = await lastNotifications(tx, entityId, shown)
  const last = new Map(sent.map((each) => [nameOf(each), each]))
  const made: NewNotification[] = []
  for (const { line, topic, resourceId, updateDate, message, about } of shown) {
    const before = last.get(nameOf({ topic, resourceId }))
    if (before?.message === message) continue
    // Time alone could repeat: two states may be recorded with one change of the resource.
    const orderNumber = Math.max(Date.parse(updateDate), (before?.orderNumber ?? 0) + 1)
    const next = { id: newId(nowMs), line, topic, resourceId, message, orderNumber, about }
    last.set(nameOf(next), next)
    made.push(next)
  }
  return made
}

/** The events with what they tell. One that cannot be shown delays no other: it is held and tried again, for a bounded time. */
async function shownOf(
  ctx: EngineCtx,
  tx: Db,
  topics: Topics,
  entityId: string,
  events: readonly QueuedEvent[],
): Promise<(QueuedEvent & Content)[]> {
  const shown: (QueuedEvent & Content)[] = []
  const held: QueuedEvent[] = []
  const nowMs = ctx.clock.nowMs()
  for (const event of events)
    try {
      const content = await contentOf(tx, topics, event, ctx.config)
      if (content) shown.push({ ...event, ...content })
    } catch (error) {
      // A `tx` that an error of the database has ended takes no further statement.
      await tx.run(sql`select 1`).catch(() => {
        throw error
      })
      const { id, type, resourceId } = event
      const facts = { err: error, entityId, eventId: id, type, resourceId }
      if (event.isHeld && nowMs - Date.parse(event.updateDate) > shownWithinMs)
        raiseAlarm(
          ctx.log,
          'webhook-event-dropped',
          facts,
          'an event cannot be shown: its notification is dropped',
        )
      else {
        ctx.log.error(facts, 'an event cannot be shown: it is tried again')
        held.push(event)
      }
    }
  await holdQueued(tx, entityId, held, formatInstant(nowMs))
  return shown
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
