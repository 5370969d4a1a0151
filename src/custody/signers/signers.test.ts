import { randomBytes } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { pureSigner } from '#testing/nodes/pure-signer'
import { testLog } from '#testing/platform/log'
import { type Candidate, chooseSigner } from './choose.ts'
import { requireAnswers } from './known-answers.ts'
import { nativeSigner } from './native.ts'
import type { Signer } from './signer.ts'
import { webAssemblySigner } from './web-assembly.ts'

const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
// At or above the order, which no hash reaches in practice, libsecp256k1 makes its nonce from the unreduced digest.
const digests = [
  ...Array.from({ length: 200 }, () => randomBytes(32)),
  Buffer.alloc(32),
  Buffer.alloc(32, 0xfe),
]

describe('the oracle', () => {
  it('answers the published RFC 6979 vectors', () => {
    expect(() => requireAnswers(pureSigner)).not.toThrow()
  })
})

describe.each([
  ['native', nativeSigner],
  ['WebAssembly', webAssemblySigner],
] as const)('the %s signer', (_, makeSigner) => {
  it('answers the published RFC 6979 vectors', async () => {
    const signer = await makeSigner()
    expect(() => requireAnswers(signer)).not.toThrow()
  })

  it('equals the oracle in r, s, recovery, public key and sum for random keys and digests', async () => {
    const signer = await makeSigner()
    for (const digest of digests) {
      const [privateKey, addend] = [randomBytes(32), randomBytes(32)]
      expect(signer.sign(digest, privateKey)).toEqual(pureSigner.sign(digest, privateKey))
      expect(signer.publicKeyOf(privateKey)).toEqual(pureSigner.publicKeyOf(privateKey))
      const [sum, expected] = [signer, pureSigner].map((adding) => {
        const sum = Buffer.from(privateKey)
        adding.addToPrivateKey(sum, addend)
        return sum
      })
      expect(sum).toEqual(expected)
    }
  })

  it('refuses a private key outside the order', async () => {
    const signer = await makeSigner()
    for (const bad of [Buffer.alloc(32), Buffer.from(order, 'hex'), randomBytes(31)]) {
      expect(() => signer.sign(randomBytes(32), bad)).toThrow()
      expect(() => signer.publicKeyOf(bad)).toThrow()
    }
  })
})

describe('choosing a signer', () => {
  const logged = () => {
    const log = testLog('silent')
    return { log, warn: vi.spyOn(log, 'warn') }
  }
  const missing: Candidate = { name: 'native', make: () => Promise.reject(new Error('no build fits')) }

  it('takes the native one on this machine', async () => {
    const { log, warn } = logged()
    await chooseSigner(log)
    expect(warn).not.toHaveBeenCalled()
  })

  it('passes over a signer that does not load, and logs why', async () => {
    const { log, warn } = logged()
    await chooseSigner(log, [missing, { name: 'WebAssembly', make: webAssemblySigner }])
    expect(warn).toHaveBeenCalledWith(
      { signer: 'WebAssembly', rejected: ['native: no build fits'] },
      expect.any(String),
    )
  })

  it('passes over a signer with one wrong bit in a signature', async () => {
    const flipped: Signer = {
      ...pureSigner,
      sign: (digest, privateKey) => {
        const signature = pureSigner.sign(digest, privateKey)
        signature[63]! ^= 1
        return signature
      },
    }
    const { log, warn } = logged()
    const from = [
      { name: 'flipped', make: async () => flipped },
      { name: 'right', make: async () => pureSigner },
    ]
    expect(await chooseSigner(log, from)).toBe(pureSigner)
    expect(warn.mock.calls[0]![0]).toMatchObject({ rejected: [expect.stringContaining('differs')] })
    await expect(chooseSigner(log, [missing])).rejects.toThrow('no signer works on this machine')
  })
})
