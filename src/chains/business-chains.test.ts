import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyText } from '#testing/requests/any-text'
import { isDeep } from '#testing/runner/size'
import {
  addressBookChains,
  addressTagProblem,
  type BusinessChain,
  businessChains,
  isUnpayable,
  parseBusinessAddress,
} from './business-chains.ts'

const key = '0x036cbd53842c5426634e7929541ec2318f3dcf7e'
const evm = [
  'ARB',
  'AVAX',
  'BASE',
  'CELO',
  'CODEX',
  'ETH',
  'HYPEREVM',
  'INK',
  'LINEA',
  'MONAD',
  'OP',
  'PLUME',
  'POLY',
].concat(['SEI', 'SONIC', 'UNI', 'WORLDCHAIN', 'XDC', 'ZKS', 'ZKSYNC']) as BusinessChain[]

/** Published examples of each form: from the chains' own documents, or well-known accounts. */
const live: [BusinessChain, string, string?][] = [
  ...evm.map((chain): [BusinessChain, string] => [chain, key]),
  ['BASE', '0x036CbD53842c5426634e7929541eC2318f3dCF7e', key],
  ['XDC', key.replace('0x', 'xdc'), key],
  ['ALGO', '7777777777777777777777777777777777777777777777777774MSJUVU'],
  ['APTOS', `0x${'A1'.repeat(32)}`, `0x${'a1'.repeat(32)}`],
  ['BTC', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2'],
  ['BTC', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy'],
  ['BTC', 'BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ['BTC', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'],
  ['HBAR', '0.0.123'],
  ['HBAR', '0.0.123-vfmkw', '0.0.123'],
  ['NEAR', 'alice.near'],
  ['NOBLE', 'noble12l2w4ugfz4m6dd73yysz477jszqnfughxvkss5'],
  ['PAH', '15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5'],
  ['SOL', 'So11111111111111111111111111111111111111112'],
  ['SUI', `0x${'a1'.repeat(32)}`],
  ['XLM', 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ'],
  ['XRP', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh'],
]
const test: [BusinessChain, string][] = [
  ['BTC', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'],
  ['BTC', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
  ['HBAR', '0.0.123-esxsf'],
  ['PAH', '5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY'],
]
const bad: [BusinessChain, string][] = [
  ...evm.flatMap((chain): [BusinessChain, string][] => [
    [chain, '0x036cBD53842c5426634e7929541eC2318f3dCF7e'],
    [chain, key.toUpperCase()],
    [chain, key.replace('0x', '0X')],
    [chain, key.slice(0, -1)],
    [chain, `${key}0`],
    [chain, ` ${key}`],
    [chain, `${key}\n`],
    [chain, `\u202e${key}`],
    [chain, key.replace('c', 'с')],
    [chain, 'vitalik.eth'],
    [chain, 'So11111111111111111111111111111111111111112'],
  ]),
  ['BASE', key.replace('0x', 'xdc')],
  ['ALGO', '7777777777777777777777777777777777777777777777777774MSJUVV'],
  ['ALGO', '7777777777777777777777777777777777777777777777777774msjuvu'],
  ['APTOS', key],
  ['SUI', key],
  ['SUI', '0x2'],
  ['BTC', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3'],
  ['BTC', 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'],
  ['BTC', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5'],
  ['BTC', 'bc1Qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ['BTC', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
  ['HBAR', '0.0.123-vfmkx'],
  ['HBAR', '0.0.123-esxsf'],
  ['HBAR', '0.0.0'],
  ['HBAR', '0.0.9223372036854775808'],
  ['HBAR', key],
  ['NEAR', 'Alice.near'],
  ['NOBLE', 'noble12l2w4ugfz4m6dd73yysz477jszqnfughxvkss6'],
  ['NOBLE', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ['PAH', '15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp6'],
  ['PAH', '5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY'],
  ['SOL', 'So1111111111111111111111111111111111111111'],
  ['XLM', 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGA'],
  ['XLM', 'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ'],
  ['XRP', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTi'],
  ['XRP', 'X7gJ5YK8abHf2eTPWPFHAAot8Knck11QGqmQ7a6a3Z8PJvk'],
]

describe('an address of a chain code', () => {
  it.each(live)('%s takes %s', (chain, text, kept = text) =>
    expect(parseBusinessAddress(chain, text, 'LIVE')).toBe(kept),
  )
  it.each(test)('%s takes %s on test networks', (chain, text) =>
    expect(parseBusinessAddress(chain, text, 'TEST')).toBeDefined(),
  )
  it.each(bad)('%s refuses %j', (chain, text) =>
    expect(parseBusinessAddress(chain, text, 'LIVE')).toBeUndefined(),
  )

  it('is refused or kept as text that reads the same again, whatever is sent, and never throws', () => {
    const near = fc.constantFrom(...live.map(([, text]) => text), ...bad.map(([, text]) => text))
    const spoiled = fc
      .tuple(near, fc.nat(80), anyText({ maxLength: 2 }))
      .map(([text, at, piece]) => text.slice(0, at) + piece + text.slice(at + 1))
    const texts = fc.oneof(anyText({ maxLength: 120 }), near, spoiled)
    const environments = fc.constantFrom('TEST' as const, 'LIVE' as const)
    fc.assert(
      fc.property(fc.constantFrom(...businessChains), texts, environments, (chain, text, environment) => {
        const kept = parseBusinessAddress(chain, text, environment)
        if (kept !== undefined) expect(parseBusinessAddress(chain, kept, environment)).toBe(kept)
      }),
      { numRuns: isDeep ? 20_000 : 3_000 },
    )
  })

  it('is never longer than any address is: what is, costs nothing', () => {
    for (const chain of businessChains)
      for (const digit of ['1', 'A', 'a', 'f', 'q', 'r', '.'])
        expect(parseBusinessAddress(chain, digit.repeat(1_000_000), 'LIVE')).toBeUndefined()
  })
})

it('the address book takes the chains of the relaunch, and those whose EVM networks are shipped', () => {
  expect(addressBookChains.join(' ')).toBe(
    'ALGO APTOS ARB ARC AVAX BASE CELO CODEX CRONOS EDGE ETH HBAR HYPEREVM INJECTIVE INK LINEA MONAD MORPH NEAR NOBLE OP PAH PHAROS PLASMA PLUME POLY SEI SOL SONIC SUI UNI WORLDCHAIN XDC XLAYER XLM XRP ZKS',
  )
  for (const gone of ['FLOW', 'TRX', 'MATIC']) expect(businessChains).not.toContain(gone)
})

it.each([
  ['XLM', 'invoice 7', true],
  ['XLM', 'é'.repeat(14), true],
  ['XLM', 'é'.repeat(15), false],
  ['HBAR', 'x'.repeat(100), true],
  ['HBAR', 'x'.repeat(101), false],
  ['XRP', '0', true],
  ['XRP', '4294967295', true],
  ['XRP', '4294967296', false],
  ['XRP', '07', false],
  ['XRP', 'seven', false],
  ['BASE', '7', false],
  ['SOL', 'memo', false],
] as const)('%s with the tag %j: %s', (chain, tag, fits) =>
  expect(addressTagProblem(chain, tag) === undefined).toBe(fits),
)

it.each([
  ['BASE', `0x${'0'.repeat(40)}`],
  ['XDC', `0x${'0'.repeat(36)}dead`],
  ['BASE', '0x036cbd53842c5426634e7929541ec2318f3dcf7e'],
  ['SOL', '1'.repeat(32)],
  ['APTOS', '0x1'],
  ['APTOS', '0x0'],
  ['SUI', `0x${'0'.repeat(63)}2`],
  ['ALGO', `${'A'.repeat(52)}Y5HFKQ`],
  ['XLM', `G${'A'.repeat(52)}WHF`],
  ['XRP', 'rrrrrrrrrrrrrrrrrrrrrhoLvTp'],
  ['XRP', 'rrrrrrrrrrrrrrrrrrrrBZbvji'],
] as const)('%s does not let anybody be paid at %s', (chain, address) => {
  expect(parseBusinessAddress(chain, address, 'TEST')).toBe(address)
  expect(isUnpayable(chain, address, 'TEST')).toBe(true)
})

it('what is payable stays so', () => {
  for (const [chain, text, kept = text] of live)
    expect([text, isUnpayable(chain, kept, 'LIVE')]).toEqual([text, false])
})
