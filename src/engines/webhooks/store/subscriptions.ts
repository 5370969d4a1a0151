import { type Db, raw, sql } from '#runtime/db/db'

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

const columns = raw(`s.entity_id as "entityId", s.id, s.endpoint, s.base_url as "baseUrl", s.environment,
  s.dropped_count as "droppedCount", s.dropped_date as "droppedDate",
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

export async function insertSubscription(tx: Db, subscription: Subscription, at: string): Promise<void> {
  const { entityId, id, endpoint, baseUrl, environment, details } = subscription
  await tx.run(sql`insert into notification_subscriptions (entity_id, id, endpoint, base_url, environment, create_date,
      update_date)
    values (${entityId}, ${id}, ${endpoint}, ${baseUrl}, ${environment}, ${at}, ${at})`)
  await tx.run(sql`insert into notification_subscription_details (entity_id, id, subscription_id, region, status,
      create_date, update_date)
    select ${entityId}, i, ${id}, r, 'pending', ${at}::timestamptz, ${at}::timestamptz
    from unnest(${details.map((detail) => detail.id)}::uuid[], ${details.map((detail) => detail.region)}::text[]) as row(i, r)`)
}

export const removeSubscription = (tx: Db, entityId: string, id: string, at: string) =>
  tx.run(sql`update notification_subscriptions set removed_date = ${at}, update_date = ${at}, wake_date = null
    where entity_id = ${entityId} and id = ${id}`)

export type DetailRow = Detail & { entityId: string; subscriptionId: string; environment: 'TEST' | 'LIVE' }

/** Locks a region of an existing subscription by its id alone: the bearer of its token need not be a tenant. */
export const lockDetail = (tx: Db, id: string) =>
  tx.maybe<DetailRow>(sql`select d.entity_id as "entityId", d.id, d.subscription_id as "subscriptionId", d.region,
      d.status, s.environment
    from notification_subscription_details d
    join notification_subscriptions s on s.entity_id = d.entity_id and s.id = d.subscription_id
    where d.id = ${id} and s.removed_date is null for update of d`)

export const setDetailStatus = (tx: Db, detail: DetailRow, status: DetailStatus, at: string) =>
  tx.run(sql`update notification_subscription_details set status = ${status}, update_date = ${at}
    where entity_id = ${detail.entityId} and id = ${detail.id}`)

/** Marks regions that were not confirmed in time as deleted. Returns their number, at most `limit`. */
export const expireDetails = (
  tx: Db,
  environment: 'TEST' | 'LIVE',
  before: string,
  at: string,
  limit: number,
) =>
  tx.run(sql`with late as materialized (
      select p.entity_id, p.id from notification_subscription_details p
      join notification_subscriptions s on s.entity_id = p.entity_id and s.id = p.subscription_id
      where p.status = 'pending' and p.create_date < ${before} and s.environment = ${environment}
      limit ${limit} for update of p skip locked
    )
    update notification_subscription_details d set status = 'deleted', update_date = ${at}
    from late where d.entity_id = late.entity_id and d.id = late.id`)

/** Removes v1 subscriptions whose regions were all deleted before `before`. */
export const removeDead = (tx: Db, environment: 'TEST' | 'LIVE', before: string, at: string, limit: number) =>
  tx.run(sql`with dead as materialized (
      select p.entity_id, p.id from notification_subscriptions p
      where p.line = 'v1' and p.removed_date is null and p.environment = ${environment} and p.create_date < ${before}
        and not exists (select 1 from notification_subscription_details d where d.entity_id = p.entity_id
          and d.subscription_id = p.id and (d.status <> 'deleted' or d.update_date >= ${before}))
      limit ${limit} for update of p skip locked
    )
    update notification_subscriptions s set removed_date = ${at}, update_date = ${at}, wake_date = null
    from dead where s.entity_id = dead.entity_id and s.id = dead.id`)
