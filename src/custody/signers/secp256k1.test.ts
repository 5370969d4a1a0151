import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { pureSigner } from '../../../testing/pure-signer.ts'
import { provenSigner, secp256k1Signer } from './secp256k1.ts'
import type { Signer } from './signer.ts'

const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
// At or above the order, which no hash reaches in practice, libsecp256k1 makes its nonce from the unreduced digest.
const digests = [
  ...Array.from({ length: 200 }, () => randomBytes(32)),
  Buffer.alloc(32),
  Buffer.alloc(32, 0xfe),
]

describe('the signer', () => {
  it('answers the published RFC 6979 vectors, as the oracle does', () => {
    for (const signer of [secp256k1Signer, pureSigner]) expect(provenSigner(signer)).toBe(signer)
  })

  it('equals the oracle in r, s, recovery, public key and sum for random keys and digests', () => {
    for (const digest of digests) {
      const [privateKey, addend] = [randomBytes(32), randomBytes(32)]
      expect(secp256k1Signer.sign(digest, privateKey)).toEqual(pureSigner.sign(digest, privateKey))
      expect(secp256k1Signer.publicKeyOf(privateKey)).toEqual(pureSigner.publicKeyOf(privateKey))
      const [sum, expected] = [secp256k1Signer, pureSigner].map((signer) => {
        const sum = Buffer.from(privateKey)
        signer.addToPrivateKey(sum, addend)
        return sum
      })
      expect(sum).toEqual(expected)
    }
  })

  it('refuses a private key outside the order', () => {
    for (const bad of [Buffer.alloc(32), Buffer.from(order, 'hex'), randomBytes(31)]) {
      expect(() => secp256k1Signer.sign(randomBytes(32), bad)).toThrow()
      expect(() => secp256k1Signer.publicKeyOf(bad)).toThrow()
    }
  })

  it('is refused at the start of a process when one bit of a signature is wrong', () => {
    const flipped: Signer = {
      ...secp256k1Signer,
      sign: (digest, privateKey) => {
        const signature = secp256k1Signer.sign(digest, privateKey)
        signature[63]! ^= 1
        return signature
      },
    }
    expect(() => provenSigner(flipped)).toThrow('differs from the published one; reinstall bezant')
  })
})
