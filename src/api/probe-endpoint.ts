import type { SandboxCtx } from '#api/sandbox-ctx'
import { invalid } from '#lib/errors'
import { callerOf, type OutboundCall } from '#runtime/outbound/call'
import { parseTarget, TargetRefused } from '#runtime/outbound/target'

/** Throws TargetRefused for an address of this server itself, unless it catches messages there. */
export function refuseOwnAddress({ config, catches }: SandboxCtx, address: string): void {
  const url = parseTarget(address, config.notificationTargets)
  const { publicUrl } = config
  if (publicUrl && url.origin === new URL(publicUrl).origin && !catches?.(url))
    throw new TargetRefused('is this server itself')
}

/** Calls an endpoint before it is subscribed: with HEAD, or with a test message. Throws unless it answers 2xx. */
export async function probeEndpoint(
  ctx: SandboxCtx,
  endpoint: string,
  timeoutMs: number,
  message?: Pick<OutboundCall, 'headers' | 'body'>,
): Promise<void> {
  const method = message ? 'POST' : 'HEAD'
  const refusal = (reason: string) =>
    invalid({ at: 'endpoint', reason, value: endpoint, kind: 'endpointUnusable' })
  const call = callerOf(ctx.config)
  const probe = async () => {
    refuseOwnAddress(ctx, endpoint)
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
