import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyText } from '#testing/requests/any-text'
import { isDeep } from '#testing/runner/size'
import { parseScreenedAddress, type ScreeningChain, screeningChains } from './screening-chains.ts'

const legacy = '1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu'
const evm = '0x036cbd53842c5426634e7929541ec2318f3dcf7e'

/** Published examples: chain, address, and its canonical form where that differs. */
const good: [ScreeningChain, string, string?][] = [
  ['ETC', '0x036CbD53842c5426634e7929541eC2318f3dCF7e', evm],
  ['ZRX', evm],
  ['UNI', evm],
  ['UNI-SEPOLIA', evm],
  ['ATOM', 'cosmos1fl48vsnmsdzcv85q5d2q4z5ajdha8yu34mf0eh'],
  ['TRX', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
  ['BSV', legacy],
  ['BCH', legacy],
  ['BCH', 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a', legacy],
  ['BCH', 'qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a', legacy],
  ['BCH', 'BITCOINCASH:QPM2QSZNHKS23Z7629MMS6S4CWEF74VCWVY22GDX6A', legacy],
  ['BCH', 'bitcoincash:ppm2qsznhks23z7629mms6s4cwef74vcwvn0h829pq', '3CWFddi6m4ndiGyKqzYvsFYagqDLPVMTzC'],
  ['LTC', 'LhK2kQwiaAvhjWY799cZvMyYwnQAcxkarr'],
  ['LTC', '3CDJNfdWX8m2NwuGUV3nhXHXEeLygMXoAj', 'MJRSgZ3UUFcTBTBAaN38XAXvZLwRe8WVw7'],
  ['LTC', 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9'],
  [
    'XMR',
    '4LL9oSLmtpccfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2bYXZKKQePHES9khPK',
    '4AdUndXHHZ6cfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2684Rge',
  ],
  ['DOT', '15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5'],
  ['HBAR', '0.0.123-vfmkw', '0.0.123'],
]
const bad: [ScreeningChain, string][] = [
  ['BCH', 'bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6b'],
  ['BCH', 'BitcoinCash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a'],
  ['BCH', 'bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap'],
  ['BSV', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ['BTC', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'],
  ['LTC', legacy],
  ['LTC', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ['TRX', legacy],
  ['TRX', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u'],
  ['XMR', legacy],
  ['ATOM', 'noble12l2w4ugfz4m6dd73yysz477jszqnfughxvkss5'],
  ['ETC', '0x036cBD53842c5426634e7929541eC2318f3dCF7e'],
]

describe('an address to screen', () => {
  it.each(good)('%s reads %s', (chain, text, canonical) =>
    expect(parseScreenedAddress(chain, text)?.address).toBe(canonical ?? text),
  )
  it.each(bad)('%s refuses %s', (chain, text) => expect(parseScreenedAddress(chain, text)).toBeUndefined())

  it('has one form for the keys that Bitcoin and its forks share', () => {
    const forks: ScreeningChain[] = ['BTC', 'BCH', 'BSV']
    const found = forks.map((chain) => parseScreenedAddress(chain, legacy))
    expect(new Set(found.map((each) => JSON.stringify(each))).size).toBe(1)
  })

  it('is either refused or kept in a form that reads the same again', () => {
    fc.assert(
      fc.property(fc.constantFrom(...screeningChains), anyText(), (chain, text) => {
        const kept = parseScreenedAddress(chain, text)
        if (kept) expect(parseScreenedAddress(chain, kept.address)).toEqual(kept)
      }),
      { numRuns: isDeep ? 5_000 : 500 },
    )
  })
})
