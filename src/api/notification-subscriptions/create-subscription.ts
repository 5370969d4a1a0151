import type { Static } from 'typebox'
import type { Ctx } from '#engines/ctx'
import { subscribe } from '#engines/webhooks/index'
import { invalid } from '#lib/errors'
import { createCaller, type OutboundCaller } from '#runtime/outbound/call'
import { parseTarget, TargetRefused } from '#runtime/outbound/target'
import type { newSubscriptionSchema } from './schema.ts'
import { showSubscription } from './show-subscription.ts'

type CreateSubscriptionBody = Static<typeof newSubscriptionSchema>

const timeoutMs = 10_000

/** Probes the endpoint with HEAD, as before the first message; only 2xx passes. */
export async function probeEndpoint(
  ctx: Ctx,
  { endpoint }: CreateSubscriptionBody,
  call: OutboundCaller = createCaller(ctx.config.notificationTargets),
): Promise<void> {
  const answer = await probe(ctx, endpoint, call).catch((error: Error) => {
    throw refusal(
      endpoint,
      error instanceof TargetRefused ? error.message : `did not answer HEAD: ${error.message}`,
    )
  })
  if (answer.status < 200 || answer.status > 299)
    throw refusal(
      endpoint,
      `answered HEAD with ${answer.status}: it must answer with 2xx, without a redirect`,
    )
}

async function probe(ctx: Ctx, endpoint: string, call: OutboundCaller) {
  const own = ctx.config.publicUrl
  if (own && parseTarget(endpoint).origin === new URL(own).origin)
    throw new TargetRefused('is this server itself')
  return call({ method: 'HEAD', url: endpoint, timeoutMs })
}

const refusal = (endpoint: string, reason: string) =>
  invalid('endpoint', reason, endpoint, 'endpointUnusable')

export async function createSubscription(ctx: Ctx, { endpoint }: CreateSubscriptionBody) {
  return showSubscription(await subscribe(ctx, endpoint))
}
