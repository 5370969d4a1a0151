import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import { createCaller, type OutboundCall } from '#runtime/outbound/call'
import { parseTarget, TargetRefused } from '#runtime/outbound/target'

/** Calls an endpoint before it is subscribed: with HEAD, or with a test message. Throws unless it answers 2xx. */
export async function probeEndpoint(
  ctx: Ctx,
  endpoint: string,
  timeoutMs: number,
  message?: Pick<OutboundCall, 'headers' | 'body'>,
): Promise<void> {
  const method = message ? 'POST' : 'HEAD'
  const refusal = (reason: string) =>
    invalid({ at: 'endpoint', reason, value: endpoint, kind: 'endpointUnusable' })
  const call = createCaller(ctx.config.notificationTargets)
  const probe = async () => {
    const own = ctx.config.publicUrl
    if (own && parseTarget(endpoint, ctx.config.notificationTargets).origin === new URL(own).origin)
      throw new TargetRefused('is this server itself')
    return call({ method, url: endpoint, timeoutMs, ...message })
  }
  const answer = await probe().catch((error: Error) => {
    throw refusal(
      error instanceof TargetRefused ? error.message : `did not answer ${method}: ${error.message}`,
    )
  })
  if (answer.status < 200 || answer.status > 299)
    throw refusal(`answered ${method} with ${answer.status}: it must answer with 2xx, without a redirect`)
}
