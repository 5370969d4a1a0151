import { expect, it } from 'vitest'
import { canonicalAddress, canonicalTxId } from './canonical.ts'

const hash = `0x${'aB'.repeat(32)}`

it.each([
  ['0x036CbD53842c5426634e7929541eC2318f3dCF7e', '0x036cbd53842c5426634e7929541ec2318f3dcf7e'],
  ['0X036CBD53842C5426634E7929541EC2318F3DCF7E', '0x036cbd53842c5426634e7929541ec2318f3dcf7e'],
  [hash, hash.toLowerCase()],
  ['So11111111111111111111111111111111111111112', 'So11111111111111111111111111111111111111112'],
  ['alice.near', 'alice.near'],
])('the canonical form of the address %s is %s', (text, canonical) => {
  expect(canonicalAddress(text)).toBe(canonical)
})

it('a hexadecimal transaction id is canonical in lower case, a base58 one as it is', () => {
  expect(canonicalTxId(hash)).toBe(hash.toLowerCase())
  expect(canonicalTxId('5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnb')).toBe(
    '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnb',
  )
})
