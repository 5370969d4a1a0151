import { randomBytes } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import { testLog } from '../../../testing/log.ts'
import { type Candidate, chooseSigner } from './choose.ts'
import { faultOf } from './known-answers.ts'
import { nativeSigner } from './native.ts'
import { pureSigner } from './pure.ts'
import type { Signer } from './signer.ts'
import { wasmSigner } from './wasm.ts'

const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
// At or above the order, which no hash reaches in practice, libsecp256k1 makes its nonce from the unreduced digest.
const digests = [
  ...Array.from({ length: 200 }, () => randomBytes(32)),
  Buffer.alloc(32),
  Buffer.alloc(32, 0xfe),
]

describe('the signers', () => {
  it('answer the published RFC 6979 vectors', async () => {
    for (const signer of [await nativeSigner(), await wasmSigner(), await pureSigner()])
      expect([signer.name, faultOf(signer)]).toEqual([signer.name, undefined])
  })

  it('give the same r, s, recovery, public key and sum for random keys and digests', async () => {
    const [native, wasm, pure] = [await nativeSigner(), await wasmSigner(), await pureSigner()]
    for (const digest of digests) {
      const [privateKey, addend] = [randomBytes(32), randomBytes(32)]
      const expected = pure.sign(digest, privateKey)
      expect(native.sign(digest, privateKey)).toEqual(expected)
      expect(wasm.sign(digest, privateKey)).toEqual(expected)
      expect(native.publicKeyOf(privateKey)).toEqual(pure.publicKeyOf(privateKey))
      expect(wasm.publicKeyOf(privateKey)).toEqual(pure.publicKeyOf(privateKey))
      const sums = [native, wasm, pure].map((signer) => {
        const sum = Buffer.from(privateKey)
        signer.addToPrivateKey(sum, addend)
        return sum
      })
      expect(sums).toEqual([sums[2], sums[2], sums[2]])
    }
  })

  it('refuse a private key outside the order', async () => {
    for (const signer of [await nativeSigner(), await wasmSigner(), await pureSigner()])
      for (const bad of [Buffer.alloc(32), Buffer.from(order, 'hex'), randomBytes(31)])
        expect(() => signer.sign(randomBytes(32), bad), signer.name).toThrow()
  })
})

describe('choosing a signer', () => {
  const logged = () => {
    const log = testLog('silent')
    const warn = vi.spyOn(log, 'warn')
    return { log, warn }
  }
  const missing: Candidate = { name: 'native', make: () => Promise.reject(new Error('no build fits')) }

  it('takes the native one on this machine', async () => {
    expect((await chooseSigner(testLog('silent'))).name).toBe('native')
  })

  it('passes over what does not load and says why', async () => {
    const { log, warn } = logged()
    expect((await chooseSigner(log, [missing, { name: 'wasm', make: wasmSigner }])).name).toBe('wasm')
    expect(warn).toHaveBeenCalledWith(
      { signer: 'wasm', passedOver: ['native: no build fits'] },
      expect.any(String),
    )
  })

  it('passes over one that signs wrongly', async () => {
    const pure = await pureSigner()
    const flipped: Signer = {
      ...pure,
      sign: (digest, privateKey) => {
        const signature = pure.sign(digest, privateKey)
        signature.s[31]! ^= 1
        return signature
      },
    }
    const { log, warn } = logged()
    const candidates = [
      { name: 'wasm', make: async () => flipped },
      { name: 'pure', make: pureSigner },
    ]
    expect(await chooseSigner(log, candidates)).toEqual(expect.objectContaining({ name: 'pure' }))
    expect(warn.mock.calls[0]![0]).toMatchObject({ passedOver: [expect.stringContaining('differs')] })
    await expect(chooseSigner(log, [missing])).rejects.toThrow('no signer works on this machine')
  })
})
