import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { type Reach, reachOf } from './address.ts'

/**
 * Allowed targets of URLs that customers supply. `public`: https to public addresses only. `loopback`: this machine too,
 * and `private`: its network as well, both by http or https; for sandboxes.
 */
export type Targets = 'public' | 'loopback' | 'private'

/** Returns every address of a name. */
export type Resolve = (name: string) => Promise<string[]>

/** A URL that must not, or cannot, be called; the message continues "the address …". */
export class TargetRefused extends Error {}

/** An accepted URL: connect to these addresses and no others. */
export type Target = { url: URL; addresses: readonly string[] }

const allowed: Record<Targets, readonly Reach[]> = {
  public: ['public'],
  loopback: ['public', 'loopback'],
  private: ['public', 'loopback', 'private'],
}

const textMax = 2_048
/** Below this port only 80 and 443 are allowed; above it, all but the ports of databases and other non-web services. */
const ownPortMin = 1_024
const webPorts = [80, 443]
const otherPorts = [2049, 3306, 3389, 5432, 5900, 6000, 6379, 9042, 9200, 11211, 27017]

/** An address of this machine that lacks its scheme, such as localhost:3000, whose URL would have the scheme "localhost". */
const schemeless = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?(?:\/\S*)?$/i

/** Parses a customer's URL without a DNS lookup. Throws TargetRefused. */
export function parseTarget(text: string, targets: Targets = 'public'): URL {
  if (text.length > textMax) throw new TargetRefused(`is longer than ${textMax} characters`)
  if (targets !== 'public' && schemeless.test(text))
    throw new TargetRefused(`must begin with http:// or https://, such as http://${text}`)
  if (/[\s\\]/.test(text) || !/^https?:\/\/[^/]/i.test(text))
    throw new TargetRefused('must be an https:// address')
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new TargetRefused('must be an https:// address')
  }
  if (url.username !== '' || url.password !== '')
    throw new TargetRefused('must not contain a user name or password')
  const port = portOf(url)
  if ((port < ownPortMin && !webPorts.includes(port)) || otherPorts.includes(port))
    throw new TargetRefused(`uses port ${port}, which is not a port of web servers`)
  return url
}

/** Resolves the name once and checks all its addresses: one that is not allowed refuses the URL. Throws TargetRefused. */
export async function findTarget(text: string, targets: Targets, resolve: Resolve): Promise<Target> {
  const url = parseTarget(text, targets)
  if (url.protocol === 'http:' && targets === 'public') throw new TargetRefused('must be an https:// address')
  const name = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(name) ? [name] : await resolve(name).catch(() => [])
  if (addresses.length === 0)
    throw new TargetRefused(`uses ${shown(name)}, which does not resolve to an address`)
  const reaches = addresses.map(reachOf)
  if (!reaches.every((reach) => allowed[targets].includes(reach)))
    throw new TargetRefused(`leads to ${shown(name)}, which is not on the public internet`)
  if (url.protocol === 'http:' && reaches.includes('public'))
    throw new TargetRefused('must be an https:// address')
  return { url, addresses }
}

export const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80))

const shown = (name: string) => (name.length > 100 ? `${name.slice(0, 100)}…` : name)

/** Queries over the network and never in the thread pool, where one slow name server would block all other work. */
const resolver = new Resolver({ timeout: 2_000, tries: 2 })

export const resolveName: Resolve = async (name) => {
  if (/^(.+\.)?localhost\.?$/i.test(name)) return ['127.0.0.1', '::1']
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  return found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}
