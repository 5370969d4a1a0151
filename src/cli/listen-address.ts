/** Where commands listen that serve agents over HTTP. */
import { isLoopback, parseOrigin } from '#lib/web-origin'
import { UsageError } from './command.ts'

export type ListenAt = { host: string; port: number }

/** Reads PORT or HOST:PORT. */
export function listenAtOf(text: string): ListenAt {
  const [, host = '127.0.0.1', port] = /^(?:(\[[0-9a-f:]+\]|[a-z0-9.-]+):)?(\d{1,5})$/i.exec(text) ?? []
  if (port === undefined || Number(port) > 65_535)
    throw new UsageError(
      `--listen must be a port, or a host and a port such as 127.0.0.1:4030, not "${text}"`,
    )
  return { host, port: Number(port) }
}

/** Reads the origin of --public-url. Without one, the command listens to this machine alone. */
export function publicOriginOf(text: string | undefined, { host }: ListenAt): string | undefined {
  const url = text === undefined ? undefined : parseOrigin(text)
  if (text !== undefined && url?.protocol !== 'https:')
    throw new UsageError(
      `--public-url must be the origin of a proxy with https, such as https://agents.example, not "${text}"`,
    )
  if (!url && !isLoopback({ hostname: host }))
    throw new UsageError(
      `--listen ${host} needs --public-url: keys and tokens would cross the network in clear text. Put a proxy with https in front, and give its origin`,
    )
  return url?.origin
}

/** Pages of other origins are refused, also those that give this machine a name of their own. */
export function isForUs(headers: Headers, publicOrigin: string | undefined): boolean {
  const host = headers.get('host')
  const origin = headers.get('origin')
  const isOurs = (text: string) => {
    const url = URL.canParse(text) ? new URL(text) : undefined
    return url !== undefined && (isLoopback(url) || url.origin === publicOrigin)
  }
  return (isOurs(`http://${host}`) || isOurs(`https://${host}`)) && (origin === null || isOurs(origin))
}
