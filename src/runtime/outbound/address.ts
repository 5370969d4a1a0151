import { BlockList, isIP } from 'node:net'

/** The reach of an address: a public server, this machine, this network, or an address that must not be called. */
export type Reach = 'public' | 'loopback' | 'private' | 'special'

type Ranges = readonly (readonly [network: string, prefix: number])[]

const loopback: Ranges = [
  ['127.0.0.0', 8],
  ['::1', 128],
]

/** Private networks, including the shared address space of carriers. */
const inside: Ranges = [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['fc00::', 7],
]

/** Ranges that the IANA registries reserve for other purposes than reaching a server. */
const specialOfIpv4: Ranges = [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

/** The only IPv6 range that is not special, and the special ranges in it: IPv4 tunnels, protocols and documentation. */
const globalUnicast: Ranges = [['2000::', 3]]
const specialOfGlobalUnicast: Ranges = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const lists = {
  loopback: listOf(loopback),
  inside: listOf(inside),
  special: listOf([...specialOfIpv4, ...specialOfGlobalUnicast]),
  globalUnicast: listOf(globalUnicast),
}

/** Returns the reach of a literal address. IPv6 forms of IPv4 are never public; a zone or a non-address is special. */
export function reachOf(address: string): Reach {
  const version = address.includes('%') ? 0 : isIP(address)
  if (version === 0) return 'special'
  const family = version === 4 ? 'ipv4' : 'ipv6'
  if (lists.loopback.check(address, family)) return 'loopback'
  if (lists.inside.check(address, family)) return 'private'
  if (lists.special.check(address, family)) return 'special'
  return version === 4 || lists.globalUnicast.check(address, family) ? 'public' : 'special'
}

function listOf(ranges: Ranges): BlockList {
  const list = new BlockList()
  for (const [network, prefix] of ranges)
    list.addSubnet(network, prefix, network.includes(':') ? 'ipv6' : 'ipv4')
  return list
}
