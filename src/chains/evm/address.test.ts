import fc from 'fast-check'
import { getAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import { parseEvmAddress } from './address.ts'

const bytes = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((value) => Buffer.from(value).toString('hex'))

describe('EVM addresses', () => {
  it('reads lower case and checksummed spellings as the same address', () => {
    fc.assert(
      fc.property(bytes, (hex) => {
        expect(parseEvmAddress(`0x${hex}`)).toBe(`0x${hex}`)
        expect(parseEvmAddress(getAddress(`0x${hex}`))).toBe(`0x${hex}`)
      }),
    )
  })

  it('reads digits in upper case, which carry no checksum, and lowers them', () => {
    const hex = 'ab'.repeat(20)
    expect(parseEvmAddress(`0x${hex.toUpperCase()}`)).toBe(`0x${hex}`)
  })

  it('refuses a checksum with any one letter in the wrong case', () => {
    fc.assert(
      fc.property(bytes, fc.nat(39), (hex, at) => {
        const address = getAddress(`0x${hex}`)
        const letter = address[at + 2]!
        const flipped = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
        const wrong = address.slice(0, at + 2) + flipped + address.slice(at + 3)
        // Flipping the only capital letter leaves a plain lower-case address, which carries no checksum.
        fc.pre(
          wrong !== address && wrong !== wrong.toLowerCase() && wrong !== `0x${wrong.slice(2).toUpperCase()}`,
        )
        expect(parseEvmAddress(wrong)).toBeUndefined()
      }),
    )
  })

  it('never throws and refuses everything else', () => {
    fc.assert(fc.property(fc.anything(), (value) => typeof value === 'string' || !parseEvmAddress(value)))
    const hex = 'ab'.repeat(20)
    for (const text of [
      '',
      hex,
      `0X${hex}`,
      `0X${hex.toUpperCase()}`,
      `0x${hex}a`,
      `0x${hex.slice(1)}`,
      ` 0x${hex}`,
      `0x${hex}\n`,
      `\u202e0x${hex}`,
      `0x${'а'.repeat(40)}`,
      'vitalik.eth',
      'So11111111111111111111111111111111111111112',
    ])
      expect(parseEvmAddress(text)).toBeUndefined()
  })
})
