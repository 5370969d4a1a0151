import { ApiError } from '#lib/errors'
import { isLoopback, parseOrigin } from '#lib/web-origin'
import type { RequestGuard } from '#runtime/http/server'

/**
 * Keeps the pages of other sites from driving a sandbox: its operations need no key, and browsers reach this machine. A page
 * tells its origin with every request that it may not read or that changes something; a site whose name was rebound to this
 * machine is told by the host. `allowed` are the origins of `--cors`.
 */
export const requireOwnPage =
  (allowed: readonly string[]): RequestGuard =>
  ({ path, headers: { host = '', origin } }) => {
    if (!/^\/+sandbox([/?#]|$)/.test(path)) return
    const own = parseHost(host)
    if (!own)
      throw new ApiError(
        'forbidden',
        `The operations of a sandbox answer at the names of this machine, not at "${host}": call it at localhost or 127.0.0.1.`,
      )
    if (origin === undefined || allowed.includes(origin) || parseOrigin(origin)?.host === own.host) return
    throw new ApiError(
      'forbidden',
      `A page of ${origin} may not use the operations of this sandbox: start it with --cors ${origin} to let it.`,
    )
  }

function parseHost(host: string): URL | undefined {
  const url = parseOrigin(`http://${host.replace(/:80$/, '').toLowerCase()}`)
  return url && (isLoopback(url) || url.hostname.endsWith('.localhost')) ? url : undefined
}
