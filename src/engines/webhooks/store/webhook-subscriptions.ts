import { type Db, raw, sql } from '#runtime/db/db'
import type { DeliveryLane } from './deliveries.ts'

/** Addresses on the chains of domains: a subscription that has them receives the events of unified balances there, and no others. */
export type Watch = { addresses: string[]; domains: number[] }

/** The two kinds of v2 subscriptions, which are listed apart: to all of an entity, and to addresses of unified balances. */
export type SubscriptionKind = 'entity' | 'addresses'

/** A v2 subscription. */
export type WebhookSubscription = {
  entityId: string
  id: string
  name: string
  endpoint: string
  enabled: boolean
  /** `*` alone, or the types that it is restricted to. */
  notificationTypes: string[]
  addresses: string[] | null
  domains: number[] | null
  /** The first failure since the last success. */
  failingSince: string | null
  /** Number of waiting notifications that were dropped because it does not keep up, and the date of the last. */
  droppedCount: number
  droppedDate: string | null
  createDate: string
  updateDate: string
}

const columns =
  raw(`s.entity_id, s.id, s.name, s.endpoint, s.enabled, s.notification_types, s.addresses, s.domains, s.failing_since,
  s.dropped_count, s.dropped_date, s.create_date, s.update_date`)

const existing = raw(`s.line = 'v2' and s.removed_date is null`)

const ofKind = (kind: SubscriptionKind) =>
  kind === 'entity' ? raw(`s.domains is null`) : raw(`s.domains is not null`)

/** The subscriptions of both kinds, newest first. */
export const listWebhookSubscriptions = (db: Db, entityId: string) =>
  db.all<WebhookSubscription>(sql`select ${columns} from notification_subscriptions s
    where s.entity_id = ${entityId} and ${existing} order by s.create_date desc, s.id desc`)

/** The number of enabled v2 endpoints of each of these entities that has some. */
export const webhookEndpoints = async (
  db: Db,
  entityIds: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  const found = await db.all<{
    entityId: string
    count: number
  }>(sql`select s.entity_id, count(*) as count
    from notification_subscriptions s
    where s.entity_id = any(${entityIds}::uuid[]) and ${existing} and s.enabled group by s.entity_id`)
  return new Map(found.map(({ entityId, count }) => [entityId, count]))
}

export const findWebhookSubscription = (db: Db, entityId: string, id: string, kind: SubscriptionKind) =>
  db.maybe<WebhookSubscription>(sql`select ${columns} from notification_subscriptions s
    where s.entity_id = ${entityId} and s.id = ${id} and ${existing} and ${ofKind(kind)}`)

export const insertWebhookSubscription = (
  tx: Db,
  {
    entityId,
    id,
    name,
    endpoint,
    enabled,
    notificationTypes,
    addresses,
    domains,
    createDate,
  }: WebhookSubscription,
  environment: 'TEST' | 'LIVE',
) =>
  tx.run(sql`insert into notification_subscriptions (entity_id, id, line, name, endpoint, base_url, environment,
      enabled, notification_types, addresses, domains, create_date, update_date)
    values (${entityId}, ${id}, 'v2', ${name}, ${endpoint}, '', ${environment}, ${enabled}, ${notificationTypes}, ${addresses},
      ${domains}, ${createDate}, ${createDate})`)

/** Renames, enables or disables a subscription, and sets its filters; enabling it ends its failing. */
export const setWebhookSubscription = (
  tx: Db,
  {
    entityId,
    id,
    name,
    enabled,
    notificationTypes,
    addresses,
    domains,
  }: Pick<
    WebhookSubscription,
    'entityId' | 'id' | 'name' | 'enabled' | 'notificationTypes' | 'addresses' | 'domains'
  >,
  at: string,
) =>
  tx.maybe<WebhookSubscription>(sql`update notification_subscriptions s set name = ${name}, enabled = ${enabled},
      notification_types = ${notificationTypes}, addresses = ${addresses}, domains = ${domains},
      failing_since = case when s.enabled then s.failing_since end,
      notice_date = case when s.enabled then s.notice_date end,
      failure_count = case when s.enabled then s.failure_count else 0 end,
      rest_date = case when s.enabled then s.rest_date end,
      update_date = greatest(${at}, (s.update_date at time zone 'UTC' + interval '1 millisecond') at time zone 'UTC')
    where s.entity_id = ${entityId} and s.id = ${id} and ${existing}
    returning ${columns}`)

/** Locks the failing subscription of the lane, unless another worker holds its lease by now. */
export const lockFailing = (tx: Db, { entityId, subscriptionId, fencingToken }: DeliveryLane) =>
  tx.maybe<{
    failingSince: string | null
    noticeDate: string | null
    enabled: boolean
  }>(sql`select s.failing_since, s.notice_date, s.enabled
    from notification_subscriptions s
    where s.entity_id = ${entityId} and s.id = ${subscriptionId} and s.fencing_token = ${fencingToken} and ${existing}
    for update`)

export const setNoticeDate = (tx: Db, { entityId, subscriptionId }: DeliveryLane, at: string) =>
  tx.run(sql`update notification_subscriptions set notice_date = ${at}
    where entity_id = ${entityId} and id = ${subscriptionId}`)

export const disableFailing = (tx: Db, { entityId, subscriptionId }: DeliveryLane, at: string) =>
  tx.run(sql`update notification_subscriptions set enabled = false, update_date = ${at}
    where entity_id = ${entityId} and id = ${subscriptionId}`)
