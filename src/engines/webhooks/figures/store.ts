import { type Db, sql } from '#runtime/db/db'

/** An endpoint that only fails, and since when; a disabled one receives nothing. */
export type FailingSubscription = {
  id: string
  line: 'v1' | 'v2'
  endpoint: string
  enabled: boolean
  failureCount: number
  failingSince: string
  updateDate: string
}

/** The subscriptions of an entity that only fail, those that have failed for longest first. */
export const failingSubscriptions = (db: Db, entityId: string, limit: number) =>
  db.all<FailingSubscription>(sql`select s.id, s.line, s.endpoint, s.enabled, s.failure_count, s.failing_since, s.update_date
    from notification_subscriptions s
    where s.entity_id = ${entityId} and s.failing_since is not null and s.removed_date is null
    order by s.failing_since, s.id limit ${limit}`)

/** How the newest notifications were delivered. */
type DeliveryFigures = {
  delivered: number
  /** Number of them whose first attempt was taken. */
  firstTry: number
  /** The time of the attempts that were taken; null without one. */
  p50Ms: number | null
  p99Ms: number | null
}

/** The figures of the newest `limit` notifications of an entity that are not older than `since`. */
export const deliveryFigures = (db: Db, entityId: string, since: string, limit: number) =>
  db.one<DeliveryFigures>(sql`select count(*) as delivered, count(*) filter (where f.number = 1) as first_try,
      percentile_disc(0.5) within group (order by f.duration_ms) as "p50_ms",
      percentile_disc(0.99) within group (order by f.duration_ms) as "p99_ms"
    from (select n.id from notifications n where n.entity_id = ${entityId} and n.create_date >= ${since}
      order by n.create_date desc, n.id desc limit ${limit}) newest
    cross join lateral (select w.subscription_id, w.message_id from notification_deliveries w
      where w.entity_id = ${entityId} and w.message_id = newest.id and w.state = 'delivered' offset 0) d
    cross join lateral (select a.number, a.duration_ms from notification_attempts a
      where a.entity_id = ${entityId} and a.subscription_id = d.subscription_id and a.message_id = d.message_id
        and a.status between 200 and 299 order by a.number limit 1) f`)
