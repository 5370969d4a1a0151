import { readPage, type Source } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { allOf, type Db, type Sql, sql } from '#runtime/db/db'
import type { Line } from '../topics.ts'
import { atOnceDate, type Cause } from './deliveries.ts'
import { isReceiving, receives } from './queue.ts'

export type DeliveryState = 'waiting' | 'delivered' | 'failed' | 'dropped'

/** The delivery of a notification to one subscription, without its attempts. */
export type LoggedDelivery = {
  subscriptionId: string
  endpoint: string
  state: DeliveryState
  cause: Cause
  attemptCount: number
  /** The time of the next attempt; of an ended delivery that of the last one. */
  dueDate: string
}

export type LoggedNotification = {
  id: string
  line: Line
  topic: string
  resourceId: string
  message: string
  orderNumber: number
  /** The notification before this one of the same resource. */
  previousId: string | null
  createDate: string
  deliveries: LoggedDelivery[]
}

export type LoggedAttempt = {
  subscriptionId: string
  number: number
  cause: Cause
  status: number | null
  error: string | null
  durationMs: number
  createDate: string
  requestHeaders: Record<string, string>
  requestBody: string | null
  requestBytes: number | null
  responseHeaders: Record<string, string> | null
  responseBody: string | null
}

type NotificationFilters = {
  topic?: string | undefined
  resourceId?: string | undefined
  subscriptionId?: string | undefined
  state?: DeliveryState | undefined
}

/** The due date of a delivery `w` as shown: of one that was resent by hand the time of that. */
const shownDueDate = sql`case when w.due_date = ${atOnceDate} then w.update_date else w.due_date end`

const columnsOf = (entityId: string) => sql`n.id, n.line, n.topic, n.resource_id, n.message, n.order_number,
  (select p.id from notifications p where p.entity_id = ${entityId} and p.topic = n.topic
    and p.resource_id = n.resource_id and p.sequence < n.sequence order by p.sequence desc limit 1) as previous_id,
  n.create_date,
  (select coalesce(json_agg(json_build_object('subscriptionId', s.id, 'endpoint', s.endpoint, 'state', w.state,
      'cause', w.cause, 'attemptCount', w.attempt_count,
      'dueDate', to_char((${shownDueDate}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) order by s.create_date, s.id), '[]')
    from notification_deliveries w
    join notification_subscriptions s on s.entity_id = w.entity_id and s.id = w.subscription_id
    where w.entity_id = ${entityId} and w.message_id = n.id) as deliveries`

/** Conditions without parameters: a plan for any state would not use the index of the rare ones. */
const isIn: Record<DeliveryState, Sql> = {
  waiting: sql`w.state = 'waiting'`,
  delivered: sql`w.state = 'delivered'`,
  failed: sql`w.state = 'failed'`,
  dropped: sql`w.state = 'dropped'`,
}

const isOfDelivery = ({ subscriptionId, state }: NotificationFilters): Sql[] => [
  ...(subscriptionId === undefined ? [] : [sql`w.subscription_id = ${subscriptionId}`]),
  ...(state === undefined ? [] : [isIn[state]]),
]

export const notificationsPage = (
  db: Db,
  entityId: string,
  filters: NotificationFilters,
  page: PageQuery,
) => {
  const { topic, resourceId, subscriptionId, state } = filters
  const ofDelivery = isOfDelivery(filters)
  const ofNotification = [
    topic === undefined ? undefined : sql`n.topic = ${topic}`,
    resourceId === undefined ? undefined : sql`n.resource_id = ${resourceId}`,
  ]
  const source: Source = {
    columns: columnsOf(entityId),
    from: sql`notifications n`,
    alias: 'n',
    scope: sql`n.entity_id = ${entityId}`,
    filters: [
      ...ofNotification,
      ofDelivery.length === 0
        ? undefined
        : sql`exists (select 1 from notification_deliveries w
            where ${allOf([sql`w.entity_id = ${entityId} and w.message_id = n.id`, ...ofDelivery])} offset 0)`,
    ],
  }
  const isOfFew = subscriptionId !== undefined || (state !== undefined && state !== 'delivered')
  return readPage<LoggedNotification>(
    db,
    isOfFew && resourceId === undefined
      ? { ...source, ...delivered(entityId, filters), filters: ofNotification, cursors: source }
      : source,
    page,
  )
}

/**
 * The notifications of deliveries, in the order of the indexes of these: however many notifications have no such delivery, or had
 * one long ago, none of them is read. Of several deliveries of a notification in a state the first one stands for it.
 */
const delivered = (
  entityId: string,
  filters: NotificationFilters,
): Pick<Source, 'from' | 'alias' | 'scope' | 'hasDatedIds'> => ({
  from: sql`(select w.entity_id, w.message_id as id from notification_deliveries w where ${allOf([
    sql`w.entity_id = ${entityId}`,
    ...isOfDelivery(filters),
    filters.subscriptionId === undefined
      ? sql`not exists (select 1 from notification_deliveries o where o.entity_id = ${entityId}
          and o.message_id = w.message_id and o.state = w.state and o.subscription_id < w.subscription_id offset 0)`
      : undefined,
  ])}) w cross join lateral (select id, line, topic, resource_id, message, order_number, sequence, create_date
    from notifications where entity_id = ${entityId} and id = w.id offset 0) n`,
  alias: 'w',
  scope: sql`w.entity_id = ${entityId}`,
  hasDatedIds: true,
})

export const findNotification = (db: Db, entityId: string, id: string) =>
  db.maybe<LoggedNotification>(
    sql`select ${columnsOf(entityId)} from notifications n where n.entity_id = ${entityId} and n.id = ${id}`,
  )

/** The attempts of a notification at all subscriptions, oldest first. */
export const attemptsOf = (db: Db, entityId: string, messageId: string) =>
  db.all<LoggedAttempt>(sql`select subscription_id, number, cause, status, error, duration_ms, create_date, request_headers,
      coalesce(request_body, (select b.request_body from notification_attempts b where b.entity_id = a.entity_id
        and b.subscription_id = a.subscription_id and b.message_id = a.message_id and b.number < a.number
        and b.request_body is not null order by b.number desc limit 1)) as request_body, request_bytes, response_headers,
      response_body
    from notification_attempts a where entity_id = ${entityId} and message_id = ${messageId}
      and subscription_id in (select w.subscription_id from notification_deliveries w
        where w.entity_id = ${entityId} and w.message_id = ${messageId})
    order by create_date, number`)

/** A delivery with the times of its attempts, without their contents. */
export type DeliveryHistory = {
  messageId: string
  topic: string
  subscriptionId: string
  endpoint: string
  state: DeliveryState
  dueDate: string
  attempts: {
    number: number
    cause: Cause
    status: number | null
    error: string | null
    durationMs: number
    recordedAt: string
  }[]
}

/** The deliveries of the notifications of a resource, in the order of the notifications. */
export const deliveriesOf = (db: Db, entityId: string, resourceId: string, limit: number) =>
  db.all<DeliveryHistory>(sql`select n.id as message_id, n.topic, s.id as subscription_id, s.endpoint, w.state,
      ${shownDueDate} as due_date,
      (select coalesce(json_agg(json_build_object('number', a.number, 'cause', a.cause, 'status', a.status,
          'error', a.error, 'durationMs', a.duration_ms, 'recordedAt',
          to_char(coalesce(a.recorded_at, a.create_date) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
          order by a.number), '[]')
        from notification_attempts a where a.entity_id = w.entity_id and a.subscription_id = w.subscription_id
          and a.message_id = w.message_id) as attempts
    from notifications n
    join notification_deliveries w on w.entity_id = n.entity_id and w.message_id = n.id
    join notification_subscriptions s on s.entity_id = w.entity_id and s.id = w.subscription_id
    where n.entity_id = ${entityId} and n.resource_id = ${resourceId}
    order by n.sequence, s.create_date, s.id limit ${limit}`)

/** A subscription of either line, and whether it receives anything at present. */
export const findReceiver = (db: Db, entityId: string, id: string) =>
  db.maybe<{ line: Line; isReceiving: boolean }>(sql`select s.line, ${isReceiving} as is_receiving
    from notification_subscriptions s
    where s.entity_id = ${entityId} and s.id = ${id} and s.removed_date is null`)

/**
 * Queues the notifications `n` of a join again, or for the first time; returns their subscriptions. Each takes the next
 * position, so that the bound of the backlog counts it. Rows are locked by a list of their ids: a distributed server reads wrong what a join with a
 * CTE locked.
 */
const requeue = (db: Db, entityId: string, chosen: Sql, cause: Cause, at: string) =>
  db.all<{ id: string }>(sql`with chosen as materialized (${chosen}), counted as (
      select subscription_id, count(*) as count from chosen group by subscription_id
    ), locked as materialized (
      select s.id from notification_subscriptions s
      where s.entity_id = ${entityId} and s.id = any(array(select subscription_id from counted)) order by s.id for no key update
    ), placed as (
      update notification_subscriptions s set queued_count = s.queued_count + c.count
      from locked l join counted c on c.subscription_id = l.id
      where s.entity_id = ${entityId} and s.id = l.id returning s.id, s.queued_count - c.count as before
    )
    insert into notification_deliveries (entity_id, subscription_id, message_id, resource_id, sequence, state, cause,
        replay_id, position, due_date, create_date, update_date)
      select ${entityId}::uuid, c.subscription_id, c.id, c.resource_id, c.sequence, 'waiting', ${cause}, c.replay_id,
        p.before + row_number() over (partition by p.id order by c.sequence), c.due_date, ${at}::timestamptz,
        ${at}::timestamptz
      from chosen c join placed p on p.id = c.subscription_id
      on conflict (entity_id, subscription_id, message_id) do update set state = 'waiting', cause = excluded.cause,
        replay_id = excluded.replay_id, position = excluded.position, due_date = excluded.due_date, update_date = excluded.update_date
      returning subscription_id as id`)

/**
 * Queues a notification again for one subscription, or for all that receive it now, to be attempted at once. Earlier ones of its
 * resource that still wait there go before it.
 */
export async function requeueOne(
  tx: Db,
  entityId: string,
  { id, subscriptionId }: { id: string; subscriptionId: string | undefined },
  at: string,
): Promise<readonly { id: string }[]> {
  const queued = await requeue(
    tx,
    entityId,
    sql`select n.*, s.id as subscription_id, null::uuid as replay_id, ${atOnceDate}::timestamptz as due_date
      from notifications n join notification_subscriptions s on s.entity_id = n.entity_id and s.line = n.line
      where n.entity_id = ${entityId} and n.id = ${id} and ${
        subscriptionId === undefined ? receives : sql`s.id = ${subscriptionId}`
      }`,
    'resend',
    at,
  )
  const ids = queued.map((each) => each.id)
  await tx.run(sql`update notification_deliveries w set due_date = ${atOnceDate}, update_date = ${at}
    from notifications n where n.entity_id = ${entityId} and n.id = ${id} and w.entity_id = n.entity_id
      and w.subscription_id = any(${ids}::uuid[]) and w.resource_id = n.resource_id and w.state = 'waiting'
      and w.attempt_count < 5 and w.sequence < n.sequence`)
  return queued
}

/** The notifications of a range that a replay sends to one subscription. */
export type ReplayRange = {
  replayId: string
  subscriptionId: string
  from: string
  to: string
  /** `failed` includes dropped ones; `missing` never had a delivery; `all` are both and delivered ones. */
  state: 'failed' | 'missing' | 'all'
  topics: readonly string[] | undefined
  ratePerSecond: number
}

const conditions = {
  failed: sql`w.state in ('failed', 'dropped')`,
  missing: sql`w.state is null`,
  all: sql`w.state is distinct from 'waiting'`,
}

/** Queues the notifications of a range in their order, at most `limit`. */
export const requeueRange = (tx: Db, entityId: string, range: ReplayRange, limit: number, at: string) =>
  requeue(
    tx,
    entityId,
    sql`select n.*, s.id as subscription_id, ${range.replayId}::uuid as replay_id, ${at}::timestamptz
        + (row_number() over (order by n.sequence) - 1) * interval '1 second' / ${range.ratePerSecond}::integer as due_date
      from notifications n join notification_subscriptions s on s.entity_id = n.entity_id and s.line = n.line
      left join notification_deliveries w on w.entity_id = n.entity_id and w.subscription_id = s.id
        and w.message_id = n.id
      where n.entity_id = ${entityId} and s.id = ${range.subscriptionId} and ${receives}
        and n.create_date between ${range.from} and ${range.to} and ${conditions[range.state]}
        and (${range.topics ?? null}::text[] is null or n.topic = any(${range.topics ?? null}::text[]))
      order by n.sequence limit ${limit}`,
    'replay',
    at,
  )

/** A replay and its progress. */
export type Replay = { id: string; subscriptionId: string; total: number; waiting: number; failed: number }

export const insertReplay = (
  tx: Db,
  entityId: string,
  { id, subscriptionId, total }: Omit<Replay, 'waiting' | 'failed'>,
  at: string,
) =>
  tx.run(sql`insert into notification_replays (entity_id, id, subscription_id, total, create_date)
    values (${entityId}, ${id}, ${subscriptionId}, ${total}, ${at})`)

export const findReplay = (db: Db, entityId: string, subscriptionId: string, id: string) =>
  db.maybe<Replay>(sql`select r.id, r.subscription_id, r.total, w.waiting, w.failed
    from notification_replays r cross join lateral (
      select count(*) filter (where d.state = 'waiting') as waiting,
        count(*) filter (where d.state in ('failed', 'dropped')) as failed
      from notification_deliveries d where d.entity_id = r.entity_id and d.replay_id = r.id) w
    where r.entity_id = ${entityId} and r.subscription_id = ${subscriptionId} and r.id = ${id}`)
