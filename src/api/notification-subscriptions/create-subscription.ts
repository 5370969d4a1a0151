import type { Static } from 'typebox'
import { probeEndpoint } from '#api/probe-endpoint'
import type { Ctx } from '#engines/ctx'
import { deliveryTimeoutMs, subscribe } from '#engines/webhooks/index'
import type { newSubscriptionSchema } from './schema.ts'
import { showSubscription } from './show-subscription.ts'

type CreateSubscriptionBody = Static<typeof newSubscriptionSchema>

/** Probes the endpoint, as before the first message. */
export const prepareSubscription = (ctx: Ctx, { endpoint }: CreateSubscriptionBody): Promise<void> =>
  probeEndpoint(ctx, endpoint, deliveryTimeoutMs.v1)

export async function createSubscription(ctx: Ctx, { endpoint }: CreateSubscriptionBody) {
  return showSubscription(await subscribe(ctx, endpoint))
}
