import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isDeep } from '#testing/runner/size'
import { parseAddress } from './address.ts'
import { blockchains } from './blockchains.ts'

const good: [string, string][] = [
  ['BASE', '0x036cbd53842c5426634e7929541ec2318f3dcf7e'],
  ['EVM-TESTNET', '0x036CbD53842c5426634e7929541eC2318f3dCF7e'],
  ['SOL', 'So11111111111111111111111111111111111111112'],
  ['SOL-DEVNET', '11111111111111111111111111111111'],
  ['APTOS', `0x${'a1'.repeat(32)}`],
  ['APTOS', '0x1'],
  ['NEAR', 'alice.near'],
  ['NEAR-TESTNET', 'ab'.repeat(32)],
]
const bad: [string, string][] = [
  ['BASE', '0x036cBD53842c5426634e7929541eC2318f3dCF7e'],
  ['BASE', 'alice.near!'],
  ['BASE', ' 0x036cbd53842c5426634e7929541ec2318f3dcf7e'],
  ['SOL', 'So1111111111111111111111111111111111111111'],
  ['SOL', '0OIl111111111111111111111111111111111111111'],
  ['APTOS', '0x12'],
  ['APTOS', 'a1'.repeat(32)],
  ['NEAR', 'Alice.near'],
  ['NEAR', 'a'],
  ['NEAR', 'a..near'],
]

describe('an address', () => {
  it.each(good)('%s takes %s', (blockchain, text) =>
    expect(parseAddress(blockchain as never, text)).toBeDefined(),
  )
  it.each(bad)('%s refuses %s', (blockchain, text) =>
    expect(parseAddress(blockchain as never, text)).toBeUndefined(),
  )

  it('is either refused or kept as text that reads the same again, whatever is sent', () => {
    fc.assert(
      fc.property(fc.constantFrom(...blockchains), fc.string({ maxLength: 80 }), (blockchain, text) => {
        const kept = parseAddress(blockchain, text)
        if (kept !== undefined) expect(parseAddress(blockchain, kept)).toBe(kept)
      }),
      { numRuns: isDeep ? 2_000 : 500 },
    )
  })
})
