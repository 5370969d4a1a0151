import { formatInstant } from '#lib/time'
import { type Db, jsonOf, raw, type Sql, sql } from '#runtime/db/db'
import { deleteOldest } from '#runtime/delete-oldest'
import { type Turn, takeInTurns } from '#runtime/turns/store'
import type { Line } from '../topics.ts'
import type { DetailRow } from './subscriptions.ts'

/** A subscription leased by a worker. Only the lease holder records the outcomes of its deliveries. */
export type DeliveryLane = {
  entityId: string
  subscriptionId: string
  endpoint: string
  line: Line
  fencingToken: number
  /** Number of consecutive rounds in which nothing was delivered. */
  failureCount: number
  /** The end of a backoff that was not over when the lease was taken: until then only resent deliveries are attempted. */
  restDate: string | null
  /** Whether deliveries that have ended are still stored as waiting. */
  isEnding: boolean
}

/**
 * Maximum subscriptions of one tenant that are leased at once, over all processes: all that it may have, so that no endpoint
 * waits for another, but fewer of those that fail.
 */
const lanesOfTenantMax = { sound: 24, failing: 8 } as const

/**
 * Due date of a delivery that was resent by hand: before all others, and not later during a backoff of its endpoint. Its next
 * attempt replaces it.
 */
export const atOnceDate = formatInstant(0)

/**
 * Leases subscriptions with due deliveries for `leaseMs` of database time, round-robin over tenants: with `failing` those
 * whose last round failed, otherwise the rest. `now` is business time.
 */
export async function claimLanes(
  db: Db,
  turn: Turn,
  now: string,
  { failing, limit, leaseMs }: { failing: boolean; limit: number; leaseMs: number },
): Promise<readonly DeliveryLane[]> {
  const max = failing ? lanesOfTenantMax.failing : lanesOfTenantMax.sound
  const isFree = sql`s.wake_date <= ${now} and (s.lease_until is null or s.lease_until < now())
    and (s.failure_count > 0) = ${failing}`
  const leasedOf = (entityId: Sql) => sql`(select count(*) from notification_subscriptions b
    where b.entity_id = ${entityId} and b.lease_until > now() and (b.failure_count > 0) = ${failing})`
  const where = sql`${isFree} and ${leasedOf(sql`s.entity_id`)} < ${max}`
  const take = (entityId: string, count: number) =>
    db.all<DeliveryLane>(sql`with due as materialized (
        select s.id from notification_subscriptions s where s.entity_id = ${entityId} and ${isFree} order by s.wake_date
        limit greatest(0, least(${count}, ${max} - ${leasedOf(sql`${entityId}`)})) for update of s skip locked
      )
      update notification_subscriptions s
      set lease_until = now() + ${leaseMs} * interval '1 millisecond', fencing_token = s.fencing_token + 1
      from due where s.entity_id = ${entityId} and s.id = due.id
      returning s.entity_id, s.id as subscription_id, s.endpoint, s.line, s.fencing_token, s.failure_count,
        case when s.rest_date > ${now} then s.rest_date end as rest_date, s.ending_state is not null as is_ending`)
  return takeInTurns(db, turn, { from: sql`notification_subscriptions s`, where, take }, limit)
}

const isOurs = (lane: DeliveryLane) =>
  sql`entity_id = ${lane.entityId} and id = ${lane.subscriptionId} and fencing_token = ${lane.fencingToken}`

/** Extends the lease. False when another worker has taken it over. */
export const keepLane = async (db: Db, lane: DeliveryLane, leaseMs: number): Promise<boolean> =>
  (await db.run(sql`update notification_subscriptions
    set lease_until = now() + ${leaseMs} * interval '1 millisecond' where ${isOurs(lane)}`)) > 0

/** Selects deliveries `w` of the lane. */
const isOfLane = ({ entityId, subscriptionId }: DeliveryLane) =>
  sql`w.entity_id = ${entityId} and w.subscription_id = ${subscriptionId}`

/** Selects waiting deliveries of the lane, in the words of the index `notification_deliveries_due`. */
const waitingOf = (
  lane: DeliveryLane,
) => sql`entity_id = ${lane.entityId} and subscription_id = ${lane.subscriptionId}
  and state = 'waiting' and due_date > '-infinity'`

/**
 * Condition on a delivery `w` that its key finds. In these words no partial index of waiting deliveries implies it: before a
 * burst is analysed, such an index looks as good as the key, and all that waits would be read.
 */
export const isStillWaiting = raw(`w.state not in ('delivered', 'failed', 'dropped')`)

export type Rest = { failureCount: number; restDate: string | null; at: string }

/**
 * Releases the lease. The subscription wakes when its next delivery is due, but not before its backoff ends, unless that
 * delivery was resent by hand. The row is
 * locked before waiting deliveries are read, so that a concurrent wake-up comes afterwards and is not overwritten.
 */
export async function releaseLane(database: Db, lane: DeliveryLane, rest: Rest): Promise<void> {
  await database.tx(async (tx) => {
    const held = await tx.maybe(
      sql`select 1 from notification_subscriptions where ${isOurs(lane)} for update`,
    )
    if (!held) return
    const next = await tx.maybe<{
      dueDate: string
    }>(sql`select due_date from notification_deliveries
      where ${waitingOf(lane)} order by due_date, sequence limit 1`)
    const dueDate = next?.dueDate ?? null
    await tx.run(sql`update notification_subscriptions set lease_until = null, failure_count = ${rest.failureCount},
        failing_since = case when ${rest.failureCount} > 0 then coalesce(failing_since, ${rest.at}) end,
        notice_date = case when ${rest.failureCount} > 0 then notice_date end, rest_date = ${rest.restDate},
        wake_date = case when ending_state is not null then ${rest.at}::timestamptz
          when removed_date is null and ${dueDate}::timestamptz = ${atOnceDate} then ${rest.at}::timestamptz
          when removed_date is null and ${dueDate}::timestamptz is not null
          then greatest(${dueDate}::timestamptz, ${rest.restDate}::timestamptz) end
      where ${isOurs(lane)}`)
  })
}

/** Why a delivery was queued: by its event, or by an operator who sends one again, or a range. */
export type Cause = 'auto' | 'resend' | 'replay'

export type Delivery = {
  messageId: string
  attemptCount: number
  dueDate: string
  /** Creation date of the notification, as in its envelope. */
  createDate: string
  /** The region to confirm, or the one it is sent through: the first confirmed region. Null when none is left. */
  detailId: string | null
  region: 'us-east-1' | 'us-west-2' | null
  baseUrl: string
  environment: 'TEST' | 'LIVE'
  topic: string | null
  orderNumber: number | null
  cause: Cause
  /** Null for a subscription confirmation. */
  message: string | null
  /** Whether to send it: false once its receiver is deleted or disabled, or the region to confirm is confirmed. */
  wanted: boolean
}

/** Number of due deliveries that are examined at once, and the most that are returned. */
export const examinedMax = 64
/** Bytes of notifications that are returned at once; the first may have more. */
const messageBytesMax = 1_000_000

/**
 * The first deliveries due by `until` that no earlier one of their resource blocks: one blocks until it had five attempts, the number in
 * the index `notification_deliveries_in_order`. A blocked one takes over the due date of the one that blocks it, so that it
 * is not read again before; one that was resent meanwhile, with those before it, keeps its own, and the statement waits for no row.
 * `isEmpty`: nothing is due, and nothing was deferred.
 */
export async function dueDeliveries(
  db: Db,
  lane: DeliveryLane,
  until: string,
  limit: number,
): Promise<{ due: Delivery[]; isEmpty: boolean }> {
  const { entityId, subscriptionId } = lane
  // The ids are listed beside joins: before a burst is analysed, a join alone could read all deliveries of the entity.
  const rows = await db.all<Delivery | { messageId: null }>(sql`with head as materialized (
      select subscription_id, message_id, resource_id, detail_id, sequence, attempt_count, cause, due_date,
        create_date, position, xmin as version
      from notification_deliveries where ${waitingOf(lane)} and due_date <= ${until} order by due_date, sequence limit ${examinedMax}
    ), blocked as materialized (
      select h.*, e.due_date as blocked_until from head h cross join lateral (
        select e.due_date from notification_deliveries e where e.entity_id = ${entityId}
          and e.subscription_id = ${subscriptionId} and e.resource_id = h.resource_id and e.state = 'waiting'
          and e.attempt_count < 5 and e.sequence < h.sequence order by e.sequence limit 1) e
    ), free as materialized (
      select b.subscription_id, w.message_id, b.blocked_until from blocked b
      join notification_deliveries w on w.entity_id = ${entityId} and w.subscription_id = b.subscription_id
        and w.message_id = b.message_id and w.message_id = any(array(select message_id from blocked))
      where ${isStillWaiting} and w.due_date < b.blocked_until and w.xmin = b.version for no key update of w skip locked
    ), deferred as (
      update notification_deliveries w set due_date = b.blocked_until from free b
      where w.entity_id = ${entityId} and w.message_id = any(array(select message_id from free))
        and w.subscription_id = b.subscription_id and w.message_id = b.message_id
      returning 1
    ), unblocked as materialized (
      select * from head where message_id not in (select message_id from blocked)
      order by due_date, sequence limit ${limit}
    ), due as materialized (
      select * from (select u.*, row_number() over in_order as number,
          sum(coalesce(octet_length(n.message), 0)) over in_order as bytes
        from unblocked u left join lateral (select message from notifications n where u.detail_id is null
          and n.entity_id = ${entityId} and n.id = u.message_id limit 1) n on true
        window in_order as (order by u.due_date, u.sequence)) sized
      where number = 1 or bytes <= ${messageBytesMax}
    )
    select w.message_id, w.attempt_count, w.due_date, coalesce(n.create_date, w.create_date) as create_date, d.id as detail_id,
      d.region, s.base_url, s.environment, n.topic, n.order_number, w.cause, n.message,
      s.removed_date is null and w.position > s.ended_position and case s.line
        when 'v1' then (n.id is null) = (d.status = 'pending') and d.id is not null
        else s.enabled and n.id is not null end as wanted
    from (select 1 from due union all select 1 from deferred limit 1) any_found
    left join due w on true
    left join notification_subscriptions s on s.entity_id = ${entityId} and s.id = ${subscriptionId} and w.message_id is not null
    left join lateral (select * from notifications n where w.detail_id is null and n.entity_id = ${entityId}
      and n.id = w.message_id limit 1) n on true
    left join lateral (select id, region, status from notification_subscription_details d
      where d.entity_id = ${entityId} and d.subscription_id = ${subscriptionId}
        and (d.id = w.detail_id or (w.detail_id is null and d.status = 'confirmed'))
      order by d.region limit 1) d on true
    order by w.due_date, w.sequence`)
  // One row without a delivery stands for deferred ones alone.
  return { due: rows.filter((row): row is Delivery => row.messageId !== null), isEmpty: rows.length === 0 }
}

/** The outcome of an attempt. */
export type AttemptOutcome = {
  messageId: string
  number: number
  status: number | null
  error: string | null
  cause: Cause
  requestHeaders: Record<string, string>
  /** The beginning of the body, and the size of all of it. Null of a confirmation. */
  requestBody: string | null
  requestBytes: number | null
  /** Null when there was no answer. */
  responseHeaders: Record<string, string> | null
  /** The beginning of the body. */
  responseBody: string | null
  durationMs: number
  state: 'waiting' | 'delivered' | 'failed'
  dueDate: string
  /** The time of the outcome. */
  at: string
}

export type Attempt = { lane: DeliveryLane; outcome: AttemptOutcome }

/**
 * Records attempts of one entity, except those of lanes that another worker leases by now. A delivery that was ended meanwhile
 * stays so, unless it arrived. Returns the attempts whose rows another session locks: the statement waits for none, so that no
 * order of locks matters.
 */
export async function recordAttempts<Given extends Attempt>(
  database: Db,
  entityId: string,
  attempts: readonly Given[],
): Promise<Given[]> {
  const given = attempts.map(({ lane: { subscriptionId, fencingToken }, outcome }) => {
    return { subscriptionId, fencingToken, ...outcome }
  })
  const subscriptionOf = (one: Sql) => sql`s.entity_id = ${entityId} and s.id = ${one}.subscription_id
    and s.fencing_token = ${one}.fencing_token`
  const deliveryOf = (one: Sql) => sql`d.entity_id = ${entityId}
    and d.subscription_id = ${one}.subscription_id and d.message_id = ${one}.message_id`
  // Attempts differ in their headers alone, so one that failed for days keeps its body once.
  const former = sql`select a.request_body from notification_attempts a where a.entity_id = ${entityId}
    and a.subscription_id = o.subscription_id and a.message_id = o.message_id and a.request_body is not null
    order by a.number desc limit 1`
  // Each delivery is locked by itself: in a join, one lookup could read the deliveries of all messages of the batch.
  const recorded = await database.all<AttemptKey>(sql`with given as (
      select * from jsonb_to_recordset(${jsonOf(given)}::jsonb) as row(subscription_id uuid, fencing_token int8,
        message_id uuid, number integer, status integer, error text, duration_ms integer, cause text,
        request_headers jsonb, request_body text, request_bytes integer, response_headers jsonb, response_body text,
        state text, due_date timestamptz, at timestamptz)
    ), leased as materialized (
      select g.* from given g join notification_subscriptions s on ${subscriptionOf(sql`g`)}
      for key share of s skip locked
    ), ours as materialized (
      select l.* from leased l cross join lateral (
        select 1 from notification_deliveries d where ${deliveryOf(sql`l`)} for no key update of d skip locked) locked
    ), changed as (
      update notification_deliveries d set
        state = case when d.state = 'waiting' or o.state = 'delivered' then o.state else d.state end,
        attempt_count = o.number, due_date = o.due_date, update_date = o.at
      from ours o where ${deliveryOf(sql`o`)}
    )
    insert into notification_attempts (entity_id, subscription_id, message_id, number, status, error, duration_ms,
      cause, request_headers, request_body, request_bytes, response_headers, response_body, create_date)
    select ${entityId}::uuid, o.subscription_id, o.message_id, o.number, o.status, o.error, o.duration_ms, o.cause,
      o.request_headers, case when (${former}) is distinct from o.request_body then o.request_body end, o.request_bytes,
      o.response_headers, o.response_body, o.at
    from ours o returning subscription_id, message_id, number`)
  if (recorded.length === attempts.length) return []
  const keys = new Set(recorded.map(keyOf))
  const rest = given.filter((attempt) => !keys.has(keyOf(attempt)))
  const locked = await database.all<AttemptKey>(sql`select r.subscription_id, r.message_id, r.number
    from jsonb_to_recordset(${jsonOf(rest)}::jsonb) as r(subscription_id uuid, fencing_token int8, message_id uuid,
      number integer)
    join notification_subscriptions s on ${subscriptionOf(sql`r`)}
    join notification_deliveries d on ${deliveryOf(sql`r`)}`)
  const waiting = new Set(locked.map(keyOf))
  return attempts.filter((_, index) => waiting.has(keyOf(given[index]!)))
}

type AttemptKey = { subscriptionId: string; messageId: string; number: number }

const keyOf = ({ subscriptionId, messageId, number }: AttemptKey) =>
  `${subscriptionId} ${messageId} ${number}`

/** Drops a delivery that is no longer needed. */
export const dropDelivery = (db: Db, lane: DeliveryLane, messageId: string, at: string) =>
  db.run(sql`update notification_deliveries w set state = 'dropped', update_date = ${at}
    where ${isOfLane(lane)} and w.message_id = ${messageId} and ${isStillWaiting}`)

/** Queues requests to confirm these regions, also for regions that were requested before. */
export async function insertConfirmations(
  tx: Db,
  details: readonly (Pick<DetailRow, 'entityId' | 'subscriptionId' | 'id'> & { messageId: string })[],
  at: string,
): Promise<void> {
  const [first] = details
  if (!first) return
  const { entityId, subscriptionId } = first
  await tx.run(sql`insert into notification_deliveries (entity_id, subscription_id, message_id, detail_id, state, position,
      due_date, create_date, update_date)
    select s.entity_id, s.id, m, d, 'waiting', s.queued_count, ${at}::timestamptz, ${at}::timestamptz, ${at}::timestamptz
    from notification_subscriptions s, unnest(${details.map(({ messageId }) => messageId)}::uuid[],
      ${details.map(({ id }) => id)}::uuid[]) as row(m, d)
    where s.entity_id = ${entityId} and s.id = ${subscriptionId}`)
  await tx.run(sql`update notification_subscriptions set wake_date = ${at}, rest_date = null
    where entity_id = ${entityId} and id = ${subscriptionId}`)
  await tx.run(sql`select pg_notify('notification_deliveries', '')`)
}

/** Maximum deliveries of a subscription that one statement ends. */
export const endedMax = 1_000

/**
 * Ends all waiting deliveries of a subscription: none of them is sent from now on. One batch gets its state at once, the rest
 * when a worker has leased the subscription.
 */
export async function endDeliveries(
  tx: Db,
  entityId: string,
  subscriptionId: string,
  state: 'dropped' | 'failed',
  at: string,
): Promise<void> {
  // The next position stays free, since a confirmation takes that of the last delivery.
  await tx.run(sql`update notification_subscriptions set ended_position = queued_count, queued_count = queued_count + 1,
      ending_state = ${state} where entity_id = ${entityId} and id = ${subscriptionId}`)
  if (!(await endBatch(tx, entityId, subscriptionId, at))) return
  await tx.run(sql`update notification_subscriptions set wake_date = ${at}, rest_date = null
    where entity_id = ${entityId} and id = ${subscriptionId}`)
  await tx.run(sql`select pg_notify('notification_deliveries', '')`)
}

/** Gives a batch of ended deliveries their state. True when more may be left. */
export async function endBatch(
  tx: Db,
  entityId: string,
  subscriptionId: string,
  at: string,
): Promise<boolean> {
  const ending = await tx.maybe<{ state: string; position: number }>(sql`select ending_state as state,
      ended_position as position from notification_subscriptions
    where entity_id = ${entityId} and id = ${subscriptionId} and ending_state is not null for no key update`)
  if (!ending) return false
  const waiting = sql`entity_id = ${entityId} and subscription_id = ${subscriptionId} and state = 'waiting'
    and position >= 0`
  const last = sql`select position from notification_deliveries where ${waiting} order by position
    offset ${endedMax - 1} limit 1`
  const ended =
    await tx.run(sql`update notification_deliveries set state = ${ending.state}, update_date = ${at}
    where ${waiting} and position <= least(${ending.position}::int8, (${last}))`)
  if (ended >= endedMax) return true
  await tx.run(sql`update notification_subscriptions set ending_state = null
    where entity_id = ${entityId} and id = ${subscriptionId}`)
  return false
}

/**
 * Deletes deliveries that ended, and notifications and replays created, before these dates: at most `limit` of each. Returns the
 * largest of the three numbers.
 */
export async function forgetOld(
  db: Db,
  { endedBefore, madeBefore }: { endedBefore: string; madeBefore: string },
  limit: number,
): Promise<number> {
  const key = raw('subscription_id, message_id')
  const ended = sql`state <> 'waiting' and update_date < ${endedBefore}`
  const deliveries = { from: raw('notification_deliveries'), key, isOld: ended, date: raw('update_date') }
  const counts = [await deleteOldest(db, deliveries, limit)]
  for (const from of [raw('notifications'), raw('notification_replays')]) {
    const isOld = sql`create_date < ${madeBefore}`
    counts.push(await deleteOldest(db, { from, key: raw('id'), isOld, date: raw('create_date') }, limit))
  }
  return Math.max(...counts)
}

/** Maximum number of waiting deliveries that are counted: an operator reads the metrics every few seconds. */
const countedMax = 10_000

/** Returns the number of waiting deliveries of a subscription, at most `limit`. */
export const waitingOfSubscription = async (
  db: Db,
  entityId: string,
  subscriptionId: string,
  limit: number,
): Promise<number> =>
  (
    await db.one<{ count: number }>(sql`select count(*) as count from (select 1 from notification_deliveries
      where entity_id = ${entityId} and subscription_id = ${subscriptionId} and state = 'waiting' and position >= 0
      limit ${limit}) waiting`)
  ).count

/** Returns the number of waiting deliveries, at most 10,000, and the date of the oldest. */
export const waitingDeliveries = (db: Db) =>
  db.one<{
    depth: number
    oldestDate: string | null
  }>(sql`select count(*) as depth, min(create_date) as oldest_date
    from (select create_date from notification_deliveries where state = 'waiting' order by create_date
      limit ${countedMax}) waiting`)
