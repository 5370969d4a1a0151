import { createHash } from 'node:crypto'
import { base58 } from '@scure/base'
import { describe, expect, it } from 'vitest'
import { pureSigner } from '#testing/nodes/pure-signer'
import { publicKeyOfEd25519, signEd25519 } from '../signers/ed25519.ts'
import { requireEd25519Answers } from '../signers/known-answers.ts'
import { deriveKeys } from '../signing/seed.ts'
import { familyOfKey } from './index.ts'
import { deriveHardened } from './slip10.ts'

const keyAt = async (path: number[]) => {
  const seed = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex')
  const [key] = await deriveHardened(seed, { before: path.slice(0, -1), after: [] }, path.slice(-1))
  return key!.privateKey
}

describe('keys of SLIP-0010', () => {
  it('are those of the published vector 1', async () => {
    const first = await keyAt([0])
    expect(first.toString('hex')).toBe('68e0fe46dfb67e368c75379acec591dad19df3cde26e63b93a8e704f1dade7a3')
    expect(publicKeyOfEd25519(first).toString('hex')).toBe(
      '8c8a13df77a28f3445213a0f432fde644acaa215fc72dcdf300d5efaa85d350c',
    )
    expect((await keyAt([0, 1, 2, 2, 1_000_000_000])).toString('hex')).toBe(
      '8f94d394a8e8fd6b1bc2f3f49f5c47e385281d5c17e65324b0f62483e37e8793',
    )
  })
})

/** The entropy of "abandon" eleven times and "about", and of 23 times and "art". */
const [about, art] = [Buffer.alloc(16), Buffer.alloc(32)]

const derived = (family: 'aptos' | 'solana' | 'near', entropy: Buffer, indexes = [0]) =>
  deriveKeys(pureSigner, family, entropy, indexes)

describe('the addresses of a phrase', () => {
  it.each([
    [
      'aptos',
      '0xeb663b681209e7087d681c5d3eed12aaa8e1915e7c87794542c3f96e94b3d3bf',
      '0xf867372dfec13fb6c0740d4b574363685e10e6f243e9554ffa8f6e698e940efa',
      '0x226b5b5c15d19946b1fd26c3e4ad36833fd8c9c11c612b1327e608f824a5f2d4',
      '0xa686f0309ab80312979606cfccc10ea2740147ae6888351488d11c46f08fbf60',
    ],
    [
      'solana',
      'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
      'Hh8QwFUA6MtVu1qAoq12ucvFHNwCcVTV7hpWjeY1Hztb',
      '3Cy3YNTFywCmxoxt8n7UH6hg6dLo5uACowX3CFceaSnx',
      undefined,
    ],
    [
      'near',
      '5510e2b44cae6eb807e3e0e45d579dda058c274abcba15e5cb84636f5d1ee412',
      '3b93b03253b9715213ec314eb50ecc99d25602ccb5b059f91f51d24710d54326',
      '5cd11aa446d8db56ace1bd3781673e351af6481b86c4660a8acd424973f9827b',
      '6j4b6zUaty6fD1awqcGCCU9JYGCWYUgdJhQrzfZhqE25',
    ],
  ] as const)(
    'on %s are those of the official libraries',
    async (family, first, second, other, publicKey) => {
      const keys = await derived(family, about, [0, 1])
      expect(keys.map(({ address }) => address)).toEqual([first, second])
      expect(keys[0]!.publicKey).toBe(publicKey)
      expect((await derived(family, art))[0]!.address).toBe(other)
      expect(familyOfKey({ family }).addressOf(pureSigner, keys[1]!.privateKey)).toBe(second)
    },
  )
})

describe('a signature', () => {
  it('of Solana covers the message itself, which the ledger knows by its hash', async () => {
    const { sign, digestOf } = familyOfKey({ family: 'solana' })
    const [key] = await derived('solana', about)
    const message = Buffer.from('hello')
    expect(sign(pureSigner, message, key!.privateKey).toString('hex')).toBe(
      '86854909891a2cafb6289a1781b205c0903b3d1d117fe85775533ffe4864146ae67b6381ce931cd68f64df043f3a7c6f4eab326f93088b698449ca703e008606',
    )
    expect(digestOf(message)).toEqual(createHash('sha256').update(message).digest())
  })

  it('of Aptos has the public key before it, which the address does not tell', async () => {
    const { sign } = familyOfKey({ family: 'aptos' })
    const [key] = await derived('aptos', about)
    const message = Buffer.from('hello')
    const signature = sign(pureSigner, message, key!.privateKey)
    expect(`0x${signature.toString('hex', 0, 32)}`).toBe(key!.publicKey)
    expect(signature.subarray(32)).toEqual(signEd25519(message, key!.privateKey))
  })

  it('of NEAR covers digests alone', async () => {
    const { sign, digestOf } = familyOfKey({ family: 'near' })
    const [key] = await derived('near', about)
    const digest = createHash('sha256').update('a transaction').digest()
    expect(sign(pureSigner, digest, key!.privateKey)).toHaveLength(64)
    expect(digestOf(digest)).toEqual(digest)
    expect(() => sign(pureSigner, Buffer.from('a transaction'), key!.privateKey)).toThrow('digests')
  })

  it('with one wrong bit is noticed when the process starts', () => {
    expect(() => requireEd25519Answers()).not.toThrow()
    const flipped: typeof signEd25519 = (message, privateKey) => {
      const signature = signEd25519(message, privateKey)
      signature[63]! ^= 1
      return signature
    }
    expect(() => requireEd25519Answers(flipped)).toThrow('another signature')
  })

  it('needs a key of 32 bytes', () => {
    expect(() => signEd25519(Buffer.alloc(1), base58.decode('2'))).toThrow('32 bytes')
  })
})
