import { formatInstant } from '#lib/time'
import { type Db, raw, sql } from '#runtime/db/db'
import { perEntity } from '#runtime/per-entity'
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
export async function lockDetail(tx: Db, id: string): Promise<DetailRow | undefined> {
  const owner = await tx.maybe<{ entityId: string }>(
    sql`select entity_id from notification_subscription_details where id = ${id}`,
  )
  if (!owner) return undefined
  return tx.maybe<DetailRow>(sql`select d.entity_id, d.id, d.subscription_id, d.region, d.status, s.environment
    from notification_subscription_details d
    join notification_subscriptions s on s.entity_id = d.entity_id and s.id = d.subscription_id
    where d.entity_id = ${owner.entityId} and d.id = ${id} and s.removed_date is null for update of d`)
}

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
  const isLate = sql`status = 'pending' and pending_until <= ${at}`
  const late = await tx.all<Key>(sql`select entity_id, id from notification_subscription_details
    where ${isLate} order by pending_until limit ${limit}`)
  const ended = await perEntity(late, async (entityId, own) => {
    const details = await tx.all<{ id: string; subscriptionId: string }>(sql`select id, subscription_id
      from notification_subscription_details where ${these(entityId, own)} and ${isLate} order by id for update skip locked`)
    if (details.length === 0) return []
    await tx.run(sql`update notification_subscription_details set status = 'deleted', update_date = ${at}
      where ${these(entityId, details)}`)
    const subscriptions = details.map(({ subscriptionId }) => ({ id: subscriptionId }))
    // In one order for all that change several of them.
    await tx.run(sql`select 1 from notification_subscriptions where ${these(entityId, subscriptions)} order by id
      for no key update`)
    await tx.run(sql`update notification_subscriptions set removal_date = case
        when environment = 'LIVE' then ${removalAt(at, periodsMs.LIVE)}::timestamptz
        else ${removalAt(at, periodsMs.TEST)}::timestamptz end
      where ${these(entityId, subscriptions)}`)
    return details
  })
  return ended.length
}

const removalAt = (at: string, periodMs: number) => formatInstant(Date.parse(at) + periodMs)

type Key = { entityId: string; id: string }

/** Selects rows of an entity by their ids. */
const these = (entityId: string, rows: readonly { id: string }[]) =>
  sql`entity_id = ${entityId} and id = any(${rows.map(({ id }) => id)}::uuid[])`

/**
 * Removes subscriptions that are due for it and have no other than deleted regions. Returns the number of those that were due,
 * at most `limit`. The end of a further region makes one due again.
 */
export async function removeDead(tx: Db, at: string, limit: number): Promise<number> {
  const due = await tx.all<Key>(sql`select entity_id, id from notification_subscriptions
    where removal_date <= ${at} order by removal_date limit ${limit}`)
  const judged = await perEntity(due, (entityId, own) =>
    tx.all(sql`with due as materialized (
        select id from notification_subscriptions where ${these(entityId, own)} and removal_date <= ${at}
        order by id for update skip locked
      ), judged as (
        select due.id, not exists (select 1 from notification_subscription_details d where d.entity_id = ${entityId}
          and d.subscription_id = due.id and d.status <> 'deleted') as is_dead from due
      )
      update notification_subscriptions s set removal_date = null,
        removed_date = case when j.is_dead then ${at} else s.removed_date end,
        update_date = case when j.is_dead then ${at} else s.update_date end,
        wake_date = case when not j.is_dead then s.wake_date end
      from judged j where s.entity_id = ${entityId} and s.id = j.id returning s.id`),
  )
  return judged.length
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
