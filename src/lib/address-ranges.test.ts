import { describe, expect, it } from 'vitest'
import { isAddressRange, isInRanges, isWithinRanges } from './address-ranges.ts'

describe('ranges of addresses', () => {
  it.each(['10.0.0.7', '10.1.0.0/16', '0.0.0.0/0', '2001:db8::/32', '::1', '::1/128'])('accept %s', (text) =>
    expect(isAddressRange(text)).toBe(true),
  )

  it.each([
    '',
    '10.0.0',
    '10.0.0.0/33',
    '10.0.0.0/',
    '::/129',
    'localhost',
    '10.0.0.1 ',
    'fe80::1%eth0',
    '1.2.3.4/8/8',
  ])('refuse "%s"', (text) => expect(isAddressRange(text)).toBe(false))

  it('contain addresses of their network alone, an IPv4 address in either form', () => {
    const ranges = ['10.1.0.0/16', '192.0.2.7', '2001:db8::/32']
    for (const address of ['10.1.255.255', '::ffff:10.1.0.1', '192.0.2.7', '2001:db8:1::5'])
      expect(isInRanges(address, ranges), address).toBe(true)
    for (const address of ['10.2.0.0', '::ffff:10.2.0.1', '192.0.2.8', '2001:db9::', '', 'unix:'])
      expect(isInRanges(address, ranges), address).toBe(false)
  })

  it('contain narrower ranges whole', () => {
    const ranges = ['10.1.0.0/16', '2001:db8::/32']
    for (const range of ['10.1.2.0/24', '10.1.0.0/16', '10.1.2.3', '2001:db8:7::/48'])
      expect(isWithinRanges(range, ranges), range).toBe(true)
    for (const range of ['10.0.0.0/8', '10.2.0.0/24', '0.0.0.0/0', '2001:db9::/48', '::/0', 'x'])
      expect(isWithinRanges(range, ranges), range).toBe(false)
  })
})
