import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseBase64 } from './base64.ts'

describe('base64', () => {
  it('round trips all bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        expect(parseBase64(Buffer.from(bytes).toString('base64'))).toEqual(Buffer.from(bytes))
      }),
    )
  })

  it('accepts one text per value: accepted text re-encodes to itself', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ABab01+/=-_! \n\r\t') }), (text) => {
        const bytes = parseBase64(text)
        if (bytes) expect(bytes.toString('base64')).toBe(text)
      }),
    )
    fc.assert(
      fc.property(fc.anything(), (value) => typeof value === 'string' || parseBase64(value) === undefined),
    )
  })

  it('refuses every other encoding of the same bytes', () => {
    const text = Buffer.from('a ciphertext ?>?>').toString('base64')
    expect(parseBase64(text)).toBeDefined()
    const others = [
      `${text}\n`,
      ` ${text}`,
      `${text}!!`,
      text.replaceAll('=', ''),
      `${text}=`,
      text.replaceAll('+', '-').replaceAll('/', '_'),
      `${text.slice(0, 8)}\r\n${text.slice(8)}`,
    ].filter((other) => other !== text)
    expect(others.length).toBeGreaterThan(5)
    for (const other of others) expect(parseBase64(other)).toBeUndefined()
    // The last digit has unused bits: "QQ==" and "QR==" decode to the same byte.
    expect(parseBase64('QQ==')).toEqual(Buffer.from('A'))
    expect(parseBase64('QR==')).toBeUndefined()
  })
})
