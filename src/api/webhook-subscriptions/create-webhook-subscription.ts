import type { Static } from 'typebox'
import { probeEndpoint } from '#api/probe-endpoint'
import type { Ctx } from '#engines/ctx'
import { deliveryTimeoutMs, makeTestWebhook, subscribeWebhook } from '#engines/webhooks/index'
import type { newWebhookSubscriptionSchema } from './schema.ts'
import { showWebhookSubscription } from './show-webhook-subscription.ts'

type CreateWebhookSubscriptionBody = Static<typeof newWebhookSubscriptionSchema>

/** Probes the endpoint with HEAD, then with a signed test message. */
export async function prepareWebhookSubscription(
  ctx: Ctx,
  { endpoint }: Pick<CreateWebhookSubscriptionBody, 'endpoint'>,
) {
  await probeEndpoint(ctx, endpoint, deliveryTimeoutMs.v2)
  const test = await makeTestWebhook(ctx.custody.webhookSigner, ctx.clock.nowMs())
  await probeEndpoint(ctx, endpoint, deliveryTimeoutMs.v2, test)
}

export async function createWebhookSubscription(ctx: Ctx, body: CreateWebhookSubscriptionBody) {
  const { endpoint, notificationTypes = ['*'] } = body
  return showWebhookSubscription(await subscribeWebhook(ctx, { endpoint, types: notificationTypes }))
}
