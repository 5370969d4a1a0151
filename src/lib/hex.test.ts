import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesOf, hexOf, isHex } from './hex.ts'

describe('hex', () => {
  it('round trips all bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = hexOf(bytes)
        expect(isHex(text)).toBe(true)
        expect(isHex(text, bytes.length)).toBe(true)
        expect(isHex(text, bytes.length + 1)).toBe(false)
        expect(bytesOf(text)).toEqual(Buffer.from(bytes))
      }),
    )
  })

  it('accepts only text that decodes to the expected number of bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEFxXg \nａ') }), (text) => {
        for (const candidate of [text, `0x${text}`])
          if (isHex(candidate)) {
            expect(hexOf(bytesOf(candidate))).toBe(candidate.toLowerCase())
          }
      }),
    )
    fc.assert(fc.property(fc.anything(), (value) => typeof value === 'string' || !isHex(value)))
  })

  it.each(['', 'ab', '0xa', '0Xab', '0xag', ' 0xab', '0xab ', '0xab\n', '0xab\n0xab', '0xａｂ', '0x0xab'])(
    'refuses %j',
    (text) => {
      expect(isHex(text)).toBe(false)
    },
  )
})
