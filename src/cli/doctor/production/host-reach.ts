import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type Reach, reachOf } from '#runtime/outbound/address'

/** Whether a host is this machine, in a private network, or elsewhere: also one whose name does not resolve. */
type HostReach = 'machine' | 'network' | 'elsewhere'

/** Returns the farthest reach of the addresses of a host. The directory of a socket is on this machine. */
export async function reachOfHost(host: string): Promise<HostReach> {
  if (host.startsWith('/')) return 'machine'
  const name = host.replace(/^\[|\]$/g, '')
  const found = isIP(name) ? [name] : await addressesOf(name)
  const reaches = found.map((address) => (isOwn(address) ? 'loopback' : reachOf(address)))
  const isAmong = (allowed: readonly Reach[]) =>
    reaches.length > 0 && reaches.every((reach) => allowed.includes(reach))
  if (isAmong(['loopback'])) return 'machine'
  return isAmong(['loopback', 'private']) ? 'network' : 'elsewhere'
}

const addressesOf = (name: string): Promise<string[]> =>
  lookup(name, { all: true }).then(
    (found) => found.map(({ address }) => address),
    () => [],
  )

const isOwn = (address: string): boolean =>
  Object.values(networkInterfaces()).some((each) => each?.some((own) => own.address === address))
