import { createSecretKey, hkdfSync, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expand, openVault, SealBroken, type SealContext, seal, unseal, withUnsealed } from './sealing.ts'

const key = createSecretKey(randomBytes(32))
const contexts = fc.array(fc.string({ maxLength: 12 }), { minLength: 1, maxLength: 4 }) as fc.Arbitrary<
  [string, ...string[]]
>
const plains = fc.uint8Array({ maxLength: 100 })

describe('sealing', () => {
  it('opens what it sealed, under the same key and context', () => {
    fc.assert(
      fc.property(contexts, plains, (context, plain) => {
        expect(unseal(key, context, seal(key, context, plain))).toEqual(Buffer.from(plain))
      }),
    )
  })

  it('does not open under any other context', () => {
    fc.assert(
      fc.property(contexts, contexts, plains, (own, other, plain) => {
        fc.pre(JSON.stringify(own) !== JSON.stringify(other))
        expect(() => unseal(key, other, seal(key, own, plain))).toThrow(SealBroken)
      }),
    )
  })

  it.each([
    [
      ['grant', 'ab', 'c'],
      ['grant', 'a', 'bc'],
    ],
    [['grant', 'a', 'b'], ['granta', 'b'] as unknown as string[]],
    [
      ['grant', 'a'],
      ['grant', 'a', ''],
    ],
  ])('tells %j from %j', (own, other) => {
    const sealed = seal(key, own as unknown as SealContext, Buffer.from('x'))
    expect(() => unseal(key, other as unknown as SealContext, sealed)).toThrow(SealBroken)
  })

  it('does not open with another key, nor when any bit was changed or bytes are missing', () => {
    const context = ['wallet private key', 'entity', 'key'] as const
    const sealed = seal(key, context, randomBytes(32))
    expect(() => unseal(createSecretKey(randomBytes(32)), context, sealed)).toThrow(SealBroken)
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      expect(() => unseal(key, context, changed)).toThrow(SealBroken)
    }
    for (let length = 0; length < sealed.length; length++)
      expect(() => unseal(key, context, sealed.subarray(0, length))).toThrow(SealBroken)
  })

  it('never gives the same bytes twice, and wipes what it lent', () => {
    const context = ['grant', 'a'] as const
    const plain = randomBytes(32)
    expect(seal(key, context, plain).equals(seal(key, context, plain))).toBe(false)
    const lent = withUnsealed(key, context, seal(key, context, plain), (bytes) => bytes)
    expect(lent).toEqual(Buffer.alloc(32))
  })
})

describe('the vault', () => {
  it('derives keys as HKDF does', () => {
    for (const salt of [Buffer.alloc(0), randomBytes(32), randomBytes(100)]) {
      const input = randomBytes(32)
      const expected = Buffer.from(hkdfSync('sha256', input, salt, 'wallet keys', 32))
      expect(expand(input, salt, 'wallet keys')).toEqual(expected)
    }
  })

  it('gives each entity and each use its own key', () => {
    const vault = openVault(randomBytes(32))
    const secret = randomBytes(32)
    const derived = [
      vault.root.newest().sealing.export(),
      vault.walletKeyOf('a', secret).inner.export(),
      vault.walletKeyOf('b', secret).inner.export(),
      vault.walletKeyOf('a', randomBytes(32)).inner.export(),
      vault.checkValueOf('a', secret),
      vault.checkValueOf('b', secret),
      openVault(randomBytes(32)).walletKeyOf('a', secret).inner.export(),
    ].map((bytes) => bytes.toString('hex'))
    expect(new Set(derived).size).toBe(derived.length)
  })

  it('refuses a root key of another length', () => {
    expect(() => openVault(randomBytes(31))).toThrow('32 bytes')
  })

  it('shows no key when it is logged', () => {
    const vault = openVault(Buffer.alloc(32, 7))
    const walletKey = vault.walletKeyOf('a', Buffer.alloc(32, 9))
    expect(JSON.stringify({ vault, walletKey })).toBe(
      '{"vault":{"root":{},"lasting":{}},"walletKey":{"outer":{},"inner":{}}}',
    )
  })
})
