import { type Db, raw, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'
import { isNotDeferred, type Turn, takeInTurns } from '#runtime/turns/store'
import type { Line, WatchedAddress } from '../topics.ts'
import { isStillWaiting } from './deliveries.ts'

export type QueuedEvent = {
  entityId: string
  id: string
  type: string
  resourceId: string
  /** The resource's update date after this event. */
  updateDate: string
  snapshot: Record<string, unknown> | null
  sequence: number
  isHeld: boolean
}

/** Selects queued events `q` that are not held, or were held since before this date. */
const isReady = (heldBefore: string) => sql`(not q.is_held or q.create_date < ${heldBefore})`

/** Serves tenants with events to take, round-robin, until `serve` has taken those of `limit` of them. Returns these tenants. */
export const serveQueued = (
  db: Db,
  turn: Turn,
  heldBefore: string,
  limit: number,
  serve: (entityId: string) => Promise<boolean>,
): Promise<readonly { entityId: string }[]> => {
  const where = sql`${isReady(heldBefore)} and ${isNotDeferred(turn.queue, '', sql`q.entity_id`, sql`''`)}`
  const take = async (entityId: string) => ((await serve(entityId)) ? [{ entityId }] : [])
  return takeInTurns(db, turn, { from: sql`queued_events q`, where, take }, limit)
}

/** The date of the oldest event that a tenant has in the queue. */
export const oldestQueued = (db: Db, entityId: string) =>
  db.maybe<{ createDate: string }>(sql`select create_date from queued_events where entity_id = ${entityId}
    order by sequence limit 1`)

/**
 * Takes the tenant's oldest queued events that are ready, in order. A lock keeps other workers from its events until the
 * `tx` ends, so that notifications of a resource are in the order of its events.
 */
export async function takeQueued(
  tx: Db,
  entityId: string,
  heldBefore: string,
  limit: number,
): Promise<QueuedEvent[]> {
  const { got } = await tx.one<{ got: boolean }>(sql`select
    pg_try_advisory_xact_lock(hashtextextended(${`notifications of ${entityId}`}, 0)) as got`)
  if (!got) return []
  const rows = await tx.all<QueuedEvent>(sql`with taken as materialized (
      select q.id from queued_events q where q.entity_id = ${entityId} and ${isReady(heldBefore)}
      order by q.sequence limit ${limit} for update
    )
    delete from queued_events where entity_id = ${entityId} and id in (select id from taken)
    returning entity_id, id, type, resource_id, update_date, snapshot,
      sequence, is_held`)
  return rows.sort((one, other) => one.sequence - other.sequence)
}

/** Puts events back in their place, held from now on. */
export async function holdQueued(
  tx: Db,
  entityId: string,
  events: readonly QueuedEvent[],
  at: string,
): Promise<void> {
  if (events.length === 0) return
  await tx.run(sql`insert into queued_events
      (entity_id, id, type, resource_id, update_date, snapshot, sequence, is_held, create_date) overriding system value
    select ${entityId}, i, t, r, u, s, n, true, ${at}::timestamptz
    from unnest(${events.map(({ id }) => id)}::uuid[], ${events.map(({ type }) => type)}::text[],
      ${events.map(({ resourceId }) => resourceId)}::text[],
      ${events.map(({ updateDate }) => updateDate)}::timestamptz[],
      ${events.map(({ snapshot }) => snapshot && JSON.stringify(snapshot))}::jsonb[],
      ${events.map(({ sequence }) => sequence)}::int8[]) as row(i, t, r, u, s, n)`)
}

/** The end of the wait of a resource's held event, with the members of its snapshot, or without when they will not come. */
type HeldRelease = {
  entityId: string
  resourceId: string
  /** Of the resource with these members. */
  updateDate?: string
  members?: Record<string, unknown>
}

/** Ends the wait of held events. */
export async function releaseHeld(tx: Db, rows: readonly HeldRelease[]): Promise<void> {
  if (rows.length === 0) return
  const released = await perEntity(rows, (entityId, own) =>
    tx.all(sql`with held as materialized (
      select q.id, n.u, n.m
      from unnest(${own.map(({ resourceId }) => resourceId)}::text[],
        ${own.map(({ updateDate }) => updateDate ?? null)}::timestamptz[],
        ${own.map(({ members = {} }) => JSON.stringify(members))}::jsonb[]) as n(r, u, m)
      join queued_events q on q.entity_id = ${entityId} and q.resource_id = n.r and q.is_held
      order by q.sequence for update of q
    )
    update queued_events q set is_held = false, snapshot = q.snapshot || held.m, update_date = coalesce(held.u, q.update_date)
    from held where q.entity_id = ${entityId} and q.id = held.id returning q.id`),
  )
  if (released.length > 0) await tx.run(sql`select pg_notify('queued_events', '')`)
}

/** A notification for the endpoints of its entity that receive its line and topic. */
export type NewNotification = LastNotification & {
  line: Line
  id: string
  about?: WatchedAddress | undefined
}

type LastNotification = {
  /** The name of a v1 topic, or the type of a v2 notification. */
  topic: string
  resourceId: string
  /** The text that every attempt sends: in v1 the `Message`, in v2 the member `notification` of the body. */
  message: string
  /** Increases with each notification of the resource. */
  orderNumber: number
}

/** The last notification of each of the resources. */
export const lastNotifications = (
  db: Db,
  entityId: string,
  of: readonly Pick<LastNotification, 'topic' | 'resourceId'>[],
) =>
  db.all<LastNotification>(sql`select t as topic, r as resource_id, last.message, last.order_number
    from unnest(${of.map(({ topic }) => topic)}::text[], ${of.map(({ resourceId }) => resourceId)}::text[]) as row(t, r)
    cross join lateral (select message, order_number from notifications n
      where n.entity_id = ${entityId} and n.topic = t and n.resource_id = r order by n.sequence desc limit 1) last`)

/** Whether subscription `s` receives anything: of v1 with a confirmed region, of v2 if enabled. */
export const isReceiving = raw(`case s.line
  when 'v1' then exists (select 1 from notification_subscription_details d
    where d.entity_id = s.entity_id and d.subscription_id = s.id and d.status = 'confirmed')
  else s.enabled end`)

/**
 * Selects subscriptions `s` that receive notification `n`; those of v1 have all types. One that is about an address goes to those
 * that watch it, and to no others.
 */
export const receives = sql`s.removed_date is null and ${isReceiving}
  and case when n.domain is null then s.domains is null else n.domain = any(s.domains) and n.address = any(s.addresses) end
  and s.notification_types && array['*', n.topic, split_part(n.topic, '.', 1) || '.*']`

/** Maximum waiting deliveries of a subscription: one behind which so many were queued is dropped. */
export const backlogMax = 100_000

/**
 * Stores the notifications with a delivery of each for every subscription that receives it, and wakes those subscriptions.
 * Returns those that exceed `max`, with the date on which the last delivery of each was dropped.
 */
export async function insertNotifications(
  tx: Db,
  entityId: string,
  notifications: readonly NewNotification[],
  at: string,
  max = backlogMax,
): Promise<readonly FullBacklog[]> {
  const ids = notifications.map(({ id }) => id)
  await tx.run(sql`insert into notifications (entity_id, id, line, topic, resource_id, message, order_number, address, domain,
      create_date)
    select ${entityId}, i, l, t, r, m, o, a, d, ${at}::timestamptz
    from unnest(${ids}::uuid[], ${notifications.map(({ line }) => line)}::text[],
      ${notifications.map(({ topic }) => topic)}::text[], ${notifications.map(({ resourceId }) => resourceId)}::text[],
      ${notifications.map(({ message }) => message)}::text[], ${notifications.map(({ orderNumber }) => orderNumber)}::int8[],
      ${notifications.map(({ about }) => about?.address ?? null)}::text[],
      ${notifications.map(({ about }) => about?.domain ?? null)}::integer[])
      with ordinality as row(i, l, t, r, m, o, a, d, n) order by n`)
  // In one order for all that wake several of them.
  await tx.run(sql`select 1 from notification_subscriptions where entity_id = ${entityId} and removed_date is null
    order by id for no key update`)
  const receivers = await tx.all<FullBacklog & { queuedCount: number }>(sql`with chosen as materialized (
      select n.id, n.resource_id, n.sequence, s.id as subscription_id
      from notifications n join notification_subscriptions s on s.entity_id = n.entity_id and s.line = n.line
      where n.entity_id = ${entityId} and n.id = any(${ids}::uuid[]) and ${receives}
    ), counted as materialized (
      select subscription_id, count(*) as count from chosen group by subscription_id
    ), woken as (
      update notification_subscriptions s set queued_count = s.queued_count + c.count,
        wake_date = least(s.wake_date, greatest(${at}::timestamptz, s.rest_date))
      from counted c where s.entity_id = ${entityId} and s.id = c.subscription_id
      returning s.entity_id, s.id, s.endpoint, s.queued_count, s.queued_count - c.count as before, s.dropped_date
    ), queued as (
      insert into notification_deliveries (entity_id, subscription_id, message_id, resource_id, sequence, position, state,
        due_date, create_date, update_date)
      select ${entityId}::uuid, w.id, c.id, c.resource_id, c.sequence,
        w.before + row_number() over (partition by w.id order by c.sequence), 'waiting', ${at}::timestamptz,
        ${at}::timestamptz, ${at}::timestamptz
      from chosen c join woken w on w.id = c.subscription_id
    )
    select id, endpoint, queued_count, dropped_date from woken`)
  if (receivers.length > 0) await tx.run(sql`select pg_notify('notification_deliveries', '')`)
  const long = receivers.filter(({ queuedCount }) => queuedCount > max)
  if (long.length === 0) return []
  const dropped = await dropOldest(tx, entityId, long, max, at)
  return long.filter(({ id }) => dropped.has(id))
}

/**
 * Lets what waits for an endpoint be attempted at once, after it has not been there. The dates of a replay stay: they are its
 * rate.
 */
export async function hastenDeliveries(
  tx: Db,
  entityId: string,
  endpoint: string,
  at: string,
): Promise<void> {
  const found = await tx.all<{ id: string }>(sql`select id from notification_subscriptions
    where entity_id = ${entityId} and endpoint = ${endpoint} and removed_date is null order by id for no key update`)
  const ids = found.map(({ id }) => id)
  if (ids.length === 0) return
  await tx.run(sql`update notification_deliveries w set due_date = ${at}
    where w.entity_id = ${entityId} and w.subscription_id = any(${ids}::uuid[]) and w.state = 'waiting'
      and w.due_date > ${at} and (w.cause <> 'replay' or w.attempt_count > 0)`)
  await tx.run(sql`update notification_subscriptions set wake_date = ${at}, rest_date = null
    where entity_id = ${entityId} and id = any(${ids}::uuid[])`)
  await tx.run(sql`select pg_notify('notification_deliveries', '')`)
}

/** A subscription of which waiting deliveries were dropped, and when some were the last time before. */
export type FullBacklog = { id: string; endpoint: string; droppedDate: string | null }

/** Maximum number of deliveries of a subscription that are dropped at once: more than a batch of notifications adds. */
const droppedMax = 1_000

/** Drops the waiting deliveries behind which `max` others were queued. Returns the subscriptions that had some. */
async function dropOldest(
  tx: Db,
  entityId: string,
  subscriptions: readonly { id: string; queuedCount: number }[],
  max: number,
  at: string,
): Promise<ReadonlySet<string>> {
  const found = await tx.all<{ id: string }>(sql`with over as materialized (
      select w.subscription_id, w.message_id
      from unnest(${subscriptions.map(({ id }) => id)}::uuid[],
        ${subscriptions.map(({ queuedCount }) => queuedCount - max)}::int8[]) as row(i, p)
      cross join lateral (select subscription_id, message_id from notification_deliveries
        where entity_id = ${entityId} and subscription_id = i and state = 'waiting' and position > 0 and position <= p
        order by position limit ${droppedMax}) w
    ), dropped as (
      update notification_deliveries w set state = 'dropped', update_date = ${at} from over o
      where w.entity_id = ${entityId} and w.subscription_id = o.subscription_id and w.message_id = o.message_id
        and ${isStillWaiting}
      returning w.subscription_id
    )
    update notification_subscriptions s set dropped_count = s.dropped_count + d.count, dropped_date = ${at}
    from (select subscription_id, count(*) as count from dropped group by subscription_id) d
    where s.entity_id = ${entityId} and s.id = d.subscription_id returning s.id`)
  return new Set(found.map(({ id }) => id))
}

/** Wakes the subscriptions now, or, unless it is `despiteRest`, when their backoff ends. */
export async function wake(
  tx: Db,
  entityId: string,
  ids: readonly string[],
  { at, despiteRest }: { at: string; despiteRest: boolean },
): Promise<void> {
  const wakeDate = despiteRest ? sql`${at}::timestamptz` : sql`greatest(${at}::timestamptz, rest_date)`
  // In one order for all who wake several of them.
  await tx.run(sql`with woken as materialized (
      select id from notification_subscriptions where entity_id = ${entityId} and id = any(${ids}::uuid[])
      order by id for no key update
    )
    update notification_subscriptions set wake_date = least(wake_date, ${wakeDate})
    where entity_id = ${entityId} and id in (select id from woken)`)
  await tx.run(sql`select pg_notify('notification_deliveries', '')`)
}
