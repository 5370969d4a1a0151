import { type Db, raw, sql } from '#runtime/db/db'
import type { BusinessTimer, DueResource } from '#runtime/scheduling/business-timer'

export type Region = 'us-east-1' | 'us-west-2'
export type DetailStatus = 'pending' | 'confirmed' | 'deleted'
export type Detail = { id: string; region: Region; status: DetailStatus }
export type Subscription = {
  entityId: string
  id: string
  endpoint: string
  baseUrl: string
  environment: 'TEST' | 'LIVE'
  /** Sorted by region. */
  details: Detail[]
  /** Number of waiting notifications that were dropped because it does not keep up, and the date of the last. */
  droppedCount: number
  droppedDate: string | null
}

const columns =
  raw(`s.entity_id, s.id, s.endpoint, s.base_url, s.environment, s.dropped_count, s.dropped_date,
  (select json_agg(json_build_object('id', d.id, 'region', d.region, 'status', d.status) order by d.region)
    from notification_subscription_details d
    where d.entity_id = s.entity_id and d.subscription_id = s.id) as details`)

/** Serializes counting and changing the subscriptions of an entity until the `tx` ends. */
export const lockSubscriptions = (tx: Db, entityId: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`notification subscriptions ${entityId}`}, 0))`)

export const listSubscriptions = (db: Db, entityId: string) =>
  db.all<Subscription>(sql`select ${columns} from notification_subscriptions s
    where s.entity_id = ${entityId} and s.line = 'v1' and s.removed_date is null order by s.create_date desc, s.id desc`)

export const findSubscription = (db: Db, entityId: string, id: string) =>
  db.maybe<Subscription>(sql`select ${columns} from notification_subscriptions s
    where s.entity_id = ${entityId} and s.id = ${id} and s.line = 'v1' and s.removed_date is null`)

/** Stores a subscription. Regions that are not confirmed by `pendingUntil` count as deleted. */
export async function insertSubscription(
  tx: Db,
  subscription: Subscription,
  { at, pendingUntil }: { at: string; pendingUntil: string },
): Promise<void> {
  const { entityId, id, endpoint, baseUrl, environment, details } = subscription
  await tx.run(sql`insert into notification_subscriptions (entity_id, id, endpoint, base_url, environment, create_date,
      update_date)
    values (${entityId}, ${id}, ${endpoint}, ${baseUrl}, ${environment}, ${at}, ${at})`)
  await tx.run(sql`insert into notification_subscription_details (entity_id, id, subscription_id, region, status,
      pending_until, create_date, update_date)
    select ${entityId}, i, ${id}, r, 'pending', ${pendingUntil}::timestamptz, ${at}::timestamptz, ${at}::timestamptz
    from unnest(${details.map((detail) => detail.id)}::uuid[], ${details.map((detail) => detail.region)}::text[]) as row(i, r)`)
}

export const removeSubscription = (tx: Db, entityId: string, id: string, at: string) =>
  tx.run(sql`update notification_subscriptions set removed_date = ${at}, update_date = ${at}, wake_date = null,
      removal_date = null
    where entity_id = ${entityId} and id = ${id}`)

export type DetailRow = Detail & { entityId: string; subscriptionId: string; environment: 'TEST' | 'LIVE' }

/** Locks a region of an existing subscription by its id alone: the bearer of its token need not be a tenant. */
export const lockDetail = (tx: Db, id: string) =>
  tx.maybe<DetailRow>(sql`select d.entity_id, d.id, d.subscription_id, d.region,
      d.status, s.environment
    from notification_subscription_details d
    join notification_subscriptions s on s.entity_id = d.entity_id and s.id = d.subscription_id
    where d.id = ${id} and s.removed_date is null for update of d`)

/** `removalDate`: when the subscription is removed if all its regions are deleted. */
export async function setDetailStatus(
  tx: Db,
  { entityId, id, subscriptionId }: DetailRow,
  { status, at, removalDate }: { status: DetailStatus; at: string; removalDate: string },
): Promise<void> {
  await tx.run(sql`update notification_subscription_details set status = ${status}, update_date = ${at}
    where entity_id = ${entityId} and id = ${id}`)
  if (status === 'deleted')
    await tx.run(sql`update notification_subscriptions set removal_date = ${removalDate}
      where entity_id = ${entityId} and id = ${subscriptionId}`)
}

/** Periods after which a region that is not confirmed, and a subscription without regions, end. */
export type Periods = Record<'TEST' | 'LIVE', number>

/** Marks regions that were not confirmed in time as deleted. Returns their number, at most `limit`. */
export async function expireDetails(tx: Db, at: string, periodsMs: Periods, limit: number): Promise<number> {
  const late = await tx.all<Key & { subscriptionId: string }>(sql`select entity_id, id,
      subscription_id from notification_subscription_details
    where status = 'pending' and pending_until <= ${at} order by pending_until limit ${limit} for update skip locked`)
  if (late.length === 0) return 0
  await tx.run(sql`update notification_subscription_details set status = 'deleted', update_date = ${at}
    where ${these(late)}`)
  const subscriptions = late.map(({ entityId, subscriptionId }) => ({ entityId, id: subscriptionId }))
  // In one order for all that change several of them.
  await tx.run(sql`select 1 from notification_subscriptions where ${these(subscriptions)} order by entity_id, id
    for no key update`)
  await tx.run(sql`update notification_subscriptions set removal_date = ${at}::timestamptz + case environment
      when 'LIVE' then ${periodsMs.LIVE} * interval '1 millisecond' else ${periodsMs.TEST} * interval '1 millisecond' end
    where ${these(subscriptions)}`)
  return late.length
}

type Key = { entityId: string; id: string }

/** Selects rows by their keys, few of any number: a join with the keys reads a table of no statistics as a whole. */
const these = (keys: readonly Key[]) => sql`entity_id = any(${keys.map(({ entityId }) => entityId)}::uuid[])
  and id = any(${keys.map(({ id }) => id)}::uuid[])`

/**
 * Removes subscriptions that are due for it and have no other than deleted regions. Returns the number of those that were due,
 * at most `limit`. The end of a further region makes one due again.
 */
export async function removeDead(tx: Db, at: string, limit: number): Promise<number> {
  const due = await tx.all<Key & { isDead: boolean }>(sql`with due as materialized (
      select entity_id, id from notification_subscriptions where removal_date <= ${at}
      order by removal_date limit ${limit} for update skip locked
    )
    select due.entity_id, due.id, alive.id is null as is_dead from due left join lateral (
      select d.id from notification_subscription_details d where d.entity_id = due.entity_id
        and d.subscription_id = due.id and d.status <> 'deleted' limit 1) alive on true`)
  if (due.length === 0) return 0
  await tx.run(sql`update notification_subscriptions set removal_date = null where ${these(due)}`)
  await tx.run(sql`update notification_subscriptions set removed_date = ${at}, update_date = ${at}, wake_date = null
    where ${these(due.filter(({ isDead }) => isDead))}`)
  return due.length
}

/** Subscriptions with something to send, by the date of the next attempt. */
const delivery: BusinessTimer = {
  name: 'notificationDelivery',
  next: (db, limit) =>
    db.all<DueResource>(sql`select id as resource_id, wake_date as due_date from notification_subscriptions
      where wake_date is not null order by wake_date limit ${limit}`),
}

const confirmation: BusinessTimer = {
  name: 'subscriptionConfirmation',
  next: (db, limit) =>
    db.all<DueResource>(sql`select subscription_id as resource_id, pending_until as due_date
      from notification_subscription_details where status = 'pending' order by pending_until limit ${limit}`),
}

const removal: BusinessTimer = {
  name: 'subscriptionRemoval',
  next: (db, limit) =>
    db.all<DueResource>(sql`select id as resource_id, removal_date as due_date from notification_subscriptions
      where removal_date is not null order by removal_date limit ${limit}`),
}

export const webhookTimers: readonly BusinessTimer[] = [delivery, confirmation, removal]
