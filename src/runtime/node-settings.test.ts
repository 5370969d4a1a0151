import { describe, expect, it } from 'vitest'
import { parseNodeSettings } from './node-settings.ts'

const parse = (...items: unknown[]) => parseNodeSettings(JSON.stringify(items))
const one = 'https://one.example/key'
const two = 'https://two.example'

describe('node settings', () => {
  it('accept one address or several', () => {
    expect(parseNodeSettings(undefined)).toEqual([])
    expect(parseNodeSettings('')).toEqual([])
    expect(parse({ blockchain: 'BASE', rpcUrl: one })).toEqual([
      { blockchain: 'BASE', rpcUrl: one, rpcUrls: [one] },
    ])
    expect(
      parse({ blockchain: 'BASE', rpcUrls: [two, one], agree: 2, inFlightMax: 64, batchMax: 20 }),
    ).toEqual([
      { blockchain: 'BASE', rpcUrl: two, rpcUrls: [two, one], agree: 2, inFlightMax: 64, batchMax: 20 },
    ])
  })

  const wrong: [unknown, RegExp][] = [
    [{ blockchain: 'BASE' }, /BASE: needs either rpcUrl or rpcUrls/],
    [{ blockchain: 'BASE', rpcUrl: one, rpcUrls: [two] }, /needs either/],
    [{ blockchain: 'BASE', rpcUrls: [] }, /must be addresses/],
    [{ blockchain: 'BASE', rpcUrls: one }, /must be addresses/],
    [{ blockchain: 'BASE', rpcUrl: 'ftp://one' }, /must be addresses/],
    [{ blockchain: 'BASE', rpcUrls: [one, one] }, /twice/],
    [{ blockchain: 'BASE', rpcUrls: [one, two], agree: 3 }, /from 1 to 2/],
    [{ blockchain: 'BASE', rpcUrls: [one, two], agree: 0 }, /from 1 to 2/],
    [{ blockchain: 'BASE', rpcUrl: one, inFlightMax: '16' }, /inFlightMax/],
    [{ blockchain: 'BASE', rpcUrl: one, batchMax: 0 }, /batchMax must be a whole number from 1 to 1000/],
    [{ blockchain: 'BASE', rpcUrl: one, accountCode: { '0x1': '0x2' } }, /accountCode must be an object/],
    [{ blockchain: 'BASE', rpcUrl: one, accountCode: [] }, /accountCode must be an object/],
    [
      { blockchain: 'BASE', rpcUrl: one, crosschain: { messageTransmitter: '0x1' } },
      /crosschain must be an object/,
    ],
    [{ blockchain: 'BASE', rpcUrl: one, crosschain: 'yes' }, /crosschain must be an object/],
    [{ blockchain: 'BASE', rpcUrl: one, rpcURL: two }, /no setting "rpcURL"/],
    [{ rpcUrl: one }, /must be a list/],
    [null, /must be a list/],
  ]
  it.each(wrong)('refuse %j', (item, message) => {
    expect(() => parse(item)).toThrow(message)
    expect(() => parse(item)).not.toThrow(/one\.example\/key/)
  })

  it('refuse a value that is not a list, and a repeated network', () => {
    expect(() => parseNodeSettings('{')).toThrow(/must be JSON/)
    expect(() => parseNodeSettings('{}')).toThrow(/must be a list/)
    expect(() => parse({ blockchain: 'BASE', rpcUrl: one }, { blockchain: 'BASE', rpcUrl: two })).toThrow(
      /twice/,
    )
  })
})
