import type { Ctx } from '#engines/ctx'
import { findWebhookSubscription, listWebhookSubscriptions } from '#engines/webhooks/index'
import { notFound } from '#lib/errors'
import { showWebhookSubscription } from './show-webhook-subscription.ts'

export async function getWebhookSubscription(ctx: Ctx, id: string) {
  const found = await findWebhookSubscription(ctx.db, ctx.entity.id, id, 'entity')
  if (!found) throw notFound('subscription', id, 'subscriptionNotFound')
  return showWebhookSubscription(found)
}

export const getWebhookSubscriptions = async (ctx: Ctx) =>
  (await listWebhookSubscriptions(ctx.db, ctx.entity.id))
    .filter(({ domains }) => domains === null)
    .map(showWebhookSubscription)
