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
  setWebhookSubscription,
  type WebhookSubscription,
} from './store/webhook-subscriptions.ts'

/** Maximum v2 subscriptions of an entity, and so of an environment. */
const webhookSubscriptionsMax = 20

/**
 * Subscribes an endpoint to the types. One that is enabled for the same types is returned instead: clients send no idempotency
 * key, and a repeated request must not double every notification.
 */
export async function subscribeWebhook(
  ctx: Ctx,
  { endpoint, types }: { endpoint: string; types: readonly string[] },
): Promise<WebhookSubscription> {
  const { db, entity } = ctx
  await lockSubscriptions(db, entity.id)
  const present = await listWebhookSubscriptions(db, entity.id)
  const notificationTypes = types.includes('*') ? ['*'] : [...new Set(types)].sort()
  const same = present.find(
    (each) =>
      each.enabled &&
      each.endpoint === endpoint &&
      each.notificationTypes.join() === notificationTypes.join(),
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
    name: new URL(endpoint).host,
    endpoint,
    enabled: true,
    notificationTypes,
    failingSince: null,
    droppedCount: 0,
    droppedDate: null,
    createDate: at,
    updateDate: at,
  }
  await insertWebhookSubscription(db, subscription, entity.environment)
  await record(ctx, subscription.id, 'created', { endpoint, notificationTypes })
  return subscription
}

/** Renames, enables or disables a subscription. A disabled one loses its waiting deliveries and gets no new ones. */
export async function updateWebhook(
  ctx: Ctx,
  id: string,
  { name, enabled }: { name: string; enabled: boolean },
): Promise<WebhookSubscription> {
  const { db, entity } = ctx
  const at = formatInstant(ctx.clock.nowMs())
  const changed = await setWebhookSubscription(db, { entityId: entity.id, id, name, enabled }, at)
  if (!changed) throw notFound('subscription', id, 'subscriptionNotFound')
  if (!enabled) await endDeliveries(db, entity.id, id, 'dropped', at)
  await record(ctx, id, 'updated', { name, enabled })
  return changed
}

/** Ends a subscription and drops its waiting deliveries. */
export async function unsubscribeWebhook(ctx: Ctx, id: string): Promise<void> {
  const { db, entity } = ctx
  await lockSubscriptions(db, entity.id)
  if (!(await findWebhookSubscription(db, entity.id, id)))
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
