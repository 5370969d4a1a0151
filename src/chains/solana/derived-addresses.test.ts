import { PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { associatedAccountOf, isAssociatedAccount, isOnCurve } from './derived-addresses.ts'

const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const owner = 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk'

it.each([
  ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', '5N3f1tj9v1vc5TUZ8S7mCAnVmjVKrfnzXWhxLaxyZAgt'],
  ['4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', 'Bjr2Shw9sy31UNdm8kYs5y72iTbnxB4JemK98vJqyQWm'],
])('derives the account of an owner for the mint %s', (mint, account) => {
  expect(associatedAccountOf(owner, mint, tokenProgram)).toBe(account)
  expect(isAssociatedAccount(account, owner, mint, tokenProgram)).toBe(true)
  expect(isAssociatedAccount(account, account, mint, tokenProgram)).toBe(false)
  expect(isAssociatedAccount(owner, owner, mint, tokenProgram)).toBe(false)
})

it('tells addresses of keys from others as the library of the network does', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      expect(isOnCurve(bytes)).toBe(PublicKey.isOnCurve(bytes))
    }),
    { numRuns: 300 },
  )
  for (const byte of [0, 1, 2, 3]) {
    const bytes = new Uint8Array(32).fill(byte)
    expect(isOnCurve(bytes)).toBe(PublicKey.isOnCurve(bytes))
  }
})
