import { type Db, raw, sql } from '#runtime/db/db'
import { inTurns, isNotDeferred, served, type Turn } from '#runtime/turns/store'

export type QueuedEvent = {
  entityId: string
  id: string
  type: string
  resourceId: string
  /** The resource's update date after this event. */
  updateDate: string
}

/** Tenants with queued events, round-robin, each with the date of its oldest event. */
export async function queuedTenants(
  db: Db,
  turn: Turn,
  limit: number,
): Promise<readonly { entityId: string; createDate: string }[]> {
  const rows = sql`select * from (select q.entity_id as "entityId", q.create_date as "createDate" from queued_events q
    where q.entity_id = turn.entity_id and ${isNotDeferred(turn.queue, '', sql`q.entity_id`, sql`''`)}
    order by q.sequence limit 1) oldest`
  const found = await db.all<{ entityId: string; createDate: string }>(
    inTurns(turn, { from: sql`queued_events q`, where: sql`true`, rows }, limit),
  )
  return served(turn, found)
}

/**
 * Takes the tenant's oldest queued events, in order. A lock keeps other workers from its events until the `tx` ends, so that
 * notifications of a resource are in the order of its events.
 */
export async function takeQueued(tx: Db, entityId: string, limit: number): Promise<QueuedEvent[]> {
  const { got } = await tx.one<{ got: boolean }>(sql`select
    pg_try_advisory_xact_lock(hashtextextended(${`notifications of ${entityId}`}, 0)) as got`)
  if (!got) return []
  const rows = await tx.all<QueuedEvent & { sequence: number }>(sql`delete from queued_events
    where entity_id = ${entityId} and id in (select id from queued_events where entity_id = ${entityId}
      order by sequence limit ${limit})
    returning entity_id as "entityId", id, type, resource_id as "resourceId", update_date as "updateDate", sequence`)
  return rows.sort((one, other) => one.sequence - other.sequence)
}

/** A notification for every endpoint of its entity. `message` is sent unchanged at every attempt. */
export type NewNotification = {
  entityId: string
  id: string
  topic: string
  resourceId: string
  message: string
}

export type LastNotification = { topic: string; resourceId: string; message: string }

/** The last notification of each of the resources. */
export const lastNotifications = (
  db: Db,
  entityId: string,
  of: readonly Omit<LastNotification, 'message'>[],
) =>
  db.all<LastNotification>(sql`select t as topic, r as "resourceId", last.message
    from unnest(${of.map(({ topic }) => topic)}::text[], ${of.map(({ resourceId }) => resourceId)}::text[]) as row(t, r)
    cross join lateral (select message from notifications n
      where n.entity_id = ${entityId} and n.topic = t and n.resource_id = r order by n.sequence desc limit 1) last`)

/** Selects subscriptions with at least one confirmed region. */
const confirmed = raw(`s.removed_date is null and exists (select 1 from notification_subscription_details d
  where d.entity_id = s.entity_id and d.subscription_id = s.id and d.status = 'confirmed')`)

/** Stores the notifications with a delivery of each for every confirmed subscription, and wakes those subscriptions. */
export async function insertNotifications(
  tx: Db,
  entityId: string,
  notifications: readonly NewNotification[],
  at: string,
): Promise<void> {
  const ids = notifications.map(({ id }) => id)
  const resources = notifications.map(({ resourceId }) => resourceId)
  await tx.run(sql`insert into notifications (entity_id, id, topic, resource_id, message, create_date)
    select ${entityId}, i, t, r, m, ${at}::timestamptz
    from unnest(${ids}::uuid[], ${notifications.map(({ topic }) => topic)}::text[], ${resources}::text[],
      ${notifications.map(({ message }) => message)}::text[]) with ordinality as row(i, t, r, m, n) order by n`)
  const delivered =
    await tx.run(sql`insert into notification_deliveries (entity_id, subscription_id, message_id,
      resource_id, state, due_date, create_date, update_date)
    select ${entityId}, s.id, i, r, 'waiting', ${at}::timestamptz, ${at}::timestamptz, ${at}::timestamptz
    from unnest(${ids}::uuid[], ${resources}::text[]) with ordinality as row(i, r, n), notification_subscriptions s
    where s.entity_id = ${entityId} and ${confirmed} order by n`)
  if (delivered > 0) await wake(tx, entityId, at)
}

/** Wakes the confirmed subscriptions now, or when their backoff ends. */
async function wake(tx: Db, entityId: string, at: string): Promise<void> {
  await tx.run(sql`update notification_subscriptions s
    set wake_date = least(s.wake_date, greatest(${at}::timestamptz, s.rest_date))
    where s.entity_id = ${entityId} and ${confirmed}`)
  await tx.run(sql`select pg_notify('notification_deliveries', '')`)
}
