import { refuseOwnAddress } from '#api/probe-endpoint'
import type { SandboxCtx } from '#api/sandbox-ctx'
import { invalid } from '#lib/errors'
import { callerOf, type OutboundCall } from '#runtime/outbound/call'
import { TargetRefused } from '#runtime/outbound/target'
import type { CaughtMessage } from './inboxes.ts'

const timeoutMs = 10_000

/** Headers of the connection, not of the message. */
const ofConnection = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Sends the bytes and headers of a message on. The query of the message is added to that of the address. */
export async function forwardMessage(ctx: SandboxCtx, message: CaughtMessage, address: string) {
  const url = message.query === '' ? address : withQuery(address, message.query)
  const startedMs = performance.now()
  const durationMs = () => Math.round(performance.now() - startedMs)
  try {
    refuseOwnAddress(ctx, address)
    const { status, text } = await callerOf(ctx.config)({
      method: message.method as OutboundCall['method'],
      url,
      headers: sentHeaders(message),
      ...(message.bytes.length > 0 && { body: message.bytes }),
      timeoutMs,
    })
    return { status, durationMs: durationMs(), body: text }
  } catch (error) {
    if (error instanceof TargetRefused) throw invalid({ at: 'url', reason: error.message, value: address })
    const { message: reason, code, name } = error as Error & { code?: string }
    return { error: reason || code || name, durationMs: durationMs() }
  }
}

function withQuery(address: string, query: string): string {
  const [url, hash] = address.split('#')
  return `${url}${url!.includes('?') ? '&' : '?'}${query}${hash === undefined ? '' : `#${hash}`}`
}

function sentHeaders({ rawHeaders }: CaughtMessage): Record<string, string> {
  const sent: Record<string, string> = {}
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at]!, rawHeaders[at + 1]!]
    if (ofConnection.has(name.toLowerCase())) continue
    sent[name] = sent[name] === undefined ? value : `${sent[name]}, ${value}`
  }
  return sent
}
