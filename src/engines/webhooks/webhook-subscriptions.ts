import type { Ctx } from '#engines/ctx'
import { ApiError, notFound } from '#lib/errors'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { recordChanges } from '#runtime/record/store'
import { endDeliveries } from './store/deliveries.ts'
import { lockSubscriptions, removeSubscription } from './store/subscriptions.ts'
import {
  findWebhookSubscription,
  insertWebhookSubscription,
  listWebhookSubscriptions,
  type SubscriptionKind,
  setWebhookSubscription,
  type Watch,
  type WebhookSubscription,
} from './store/webhook-subscriptions.ts'

/** Maximum v2 subscriptions of an entity, and so of an environment. */
const webhookSubscriptionsMax = 20

/**
 * Subscribes an endpoint to the types. One for the same types, enabled alike, is returned instead: clients send no idempotency
 * key, and a repeated request must not double every notification.
 */
export async function subscribeWebhook(
  ctx: Ctx,
  {
    endpoint,
    types,
    watch,
    ...given
  }: { endpoint: string; types: readonly string[]; watch?: Watch; name?: string; enabled?: boolean },
): Promise<WebhookSubscription> {
  const { db, entity } = ctx
  await lockSubscriptions(db, entity.id)
  const present = await listWebhookSubscriptions(db, entity.id)
  const filters = { notificationTypes: plainTypes(types), ...plainWatch(watch) }
  const same = present.find(
    (each) =>
      each.enabled === (given.enabled ?? true) &&
      each.endpoint === endpoint &&
      textOfFilters(each) === textOfFilters(filters),
  )
  if (same) return same
  if (present.length >= webhookSubscriptionsMax)
    throw new ApiError(
      'subscriptionLimitReached',
      `There are ${webhookSubscriptionsMax} subscriptions already: delete one first.`,
    )
  const nowMs = ctx.clock.nowMs()
  const at = formatInstant(nowMs)
  const subscription: WebhookSubscription = {
    entityId: entity.id,
    id: newId(nowMs),
    name: given.name ?? new URL(endpoint).host,
    endpoint,
    enabled: given.enabled ?? true,
    ...filters,
    failingSince: null,
    droppedCount: 0,
    droppedDate: null,
    createDate: at,
    updateDate: at,
  }
  await insertWebhookSubscription(db, subscription, entity.environment)
  await record(ctx, subscription.id, 'created', { endpoint, ...recordable(filters) })
  return subscription
}

type SubscriptionFilters = Pick<WebhookSubscription, 'notificationTypes' | 'addresses' | 'domains'>

/** The types in one order; one that stands for all others, alone. */
function plainTypes(types: readonly string[]): string[] {
  const all = types.find((type) => type === '*' || type === 'gateway.*')
  return all === undefined ? [...new Set(types)].sort() : [all]
}

const plainWatch = (watch: Watch | undefined): Omit<SubscriptionFilters, 'notificationTypes'> => ({
  addresses: watch ? [...new Set(watch.addresses)].sort() : null,
  domains: watch ? [...new Set(watch.domains)].sort((one, other) => one - other) : null,
})

const textOfFilters = ({ notificationTypes, addresses, domains }: SubscriptionFilters) =>
  JSON.stringify([notificationTypes, addresses, domains])

const recordable = ({ notificationTypes, addresses, domains }: SubscriptionFilters) => ({
  notificationTypes,
  ...(domains && { addresses, domains }),
})

type WebhookChanges = {
  name?: string
  enabled?: boolean
  filters?: { types: readonly string[]; watch: Watch }
}

/**
 * Renames, enables or disables a subscription, or replaces its filters. A disabled one loses its waiting deliveries and gets no new
 * ones. New filters decide about later notifications alone.
 */
export async function updateWebhook(
  ctx: Ctx,
  id: string,
  kind: SubscriptionKind,
  { name, enabled, filters }: WebhookChanges,
): Promise<WebhookSubscription> {
  const { db, entity } = ctx
  const at = formatInstant(ctx.clock.nowMs())
  await lockSubscriptions(db, entity.id)
  const before = await findWebhookSubscription(db, entity.id, id, kind)
  if (!before) throw notFound('subscription', id, 'subscriptionNotFound')
  // A body may have more than these, such as another id.
  const renamed = { name: name ?? before.name, enabled: enabled ?? before.enabled }
  const replaced = filters && {
    notificationTypes: plainTypes(filters.types),
    ...plainWatch(filters.watch),
  }
  const changed = await setWebhookSubscription(db, { ...before, ...renamed, ...replaced }, at)
  if (!changed) throw notFound('subscription', id, 'subscriptionNotFound')
  if (!changed.enabled) await endDeliveries(db, entity.id, id, 'dropped', at)
  await record(ctx, id, 'updated', { ...renamed, ...(replaced && recordable(replaced)) })
  return changed
}

/** Ends a subscription and drops its waiting deliveries. */
export async function unsubscribeWebhook(ctx: Ctx, id: string, kind: SubscriptionKind): Promise<void> {
  const { db, entity } = ctx
  await lockSubscriptions(db, entity.id)
  if (!(await findWebhookSubscription(db, entity.id, id, kind)))
    throw notFound('subscription', id, 'subscriptionNotFound')
  const at = formatInstant(ctx.clock.nowMs())
  await removeSubscription(db, entity.id, id, at)
  await endDeliveries(db, entity.id, id, 'dropped', at)
  await record(ctx, id, 'deleted')
}

const record = (
  { db, clock, entity, actor, requestId }: Ctx,
  resourceId: string,
  event: string,
  data?: Record<string, unknown>,
) =>
  recordChanges(db, clock.nowMs(), [
    {
      entityId: entity.id,
      actor,
      requestId,
      type: `subscription.${event}`,
      resourceId,
      ...(data && { data }),
    },
  ])
