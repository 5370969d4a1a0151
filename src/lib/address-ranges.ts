import { BlockList, isIP } from 'node:net'

/** Reads an IP address, or a network such as `10.0.0.0/8`; undefined for anything else. */
function parseRange(text: string) {
  const [, address = '', length] = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const bits = { 0: undefined, 4: 32, 6: 128 }[isIP(address)]
  const prefix = length === undefined ? bits : Number(length)
  if (bits === undefined || prefix === undefined || prefix > bits) return undefined
  return { address, prefix, family: bits === 32 ? ('ipv4' as const) : ('ipv6' as const) }
}

/** Whether a text is an IP address, or a network such as `10.0.0.0/8`. */
export const isAddressRange = (text: string): boolean => parseRange(text) !== undefined

/** Whether every address of a range is in one of the ranges. */
export function isWithinRanges(text: string, ranges: readonly string[]): boolean {
  const inner = parseRange(text)
  return ranges.some((each) => {
    const outer = parseRange(each)
    return inner && outer && outer.prefix <= inner.prefix && isInRanges(inner.address, [each])
  })
}

/** Whether an address is in one of the ranges. An IPv4 address in the form of IPv6 is that IPv4 address. */
export function isInRanges(address: string, ranges: readonly string[]): boolean {
  const list = new BlockList()
  for (const text of ranges) {
    const range = parseRange(text)
    if (range) list.addSubnet(range.address, range.prefix, range.family)
  }
  const own = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address
  const version = isIP(own)
  return version !== 0 && list.check(own, version === 6 ? 'ipv6' : 'ipv4')
}
