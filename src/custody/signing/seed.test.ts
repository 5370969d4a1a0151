import { randomBytes } from 'node:crypto'
import { HDKey } from '@scure/bip32'
import { entropyToMnemonic, mnemonicToEntropy, mnemonicToSeedSync } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english'
import { describe, expect, it } from 'vitest'
import { pureSigner } from '#testing/nodes/pure-signer'
import { nativeSigner } from '../signers/native.ts'
import { webAssemblySigner } from '../signers/web-assembly.ts'
import { deriveKeys, newEntropy, seedOf } from './seed.ts'

describe('derivation', () => {
  it('gives the well-known addresses of the well-known test phrase', async () => {
    const phrase = `${'test '.repeat(11)}junk`
    const keys = await deriveKeys(pureSigner, 'evm', mnemonicToEntropy(phrase, wordlist), [0, 1, 9])
    expect(keys.map((key) => key.address)).toEqual([
      '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
      '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
      '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
    ])
    expect(keys[0]!.privateKey.toString('hex')).toBe(
      'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
    )
  })

  it('stretches the phrase as the library does', async () => {
    const entropy = newEntropy()
    const phrase = entropyToMnemonic(entropy, wordlist)
    expect(phrase.split(' ').length).toBe(24)
    expect(await seedOf(entropy)).toEqual(Buffer.from(mnemonicToSeedSync(phrase)))
    for (const length of [16, 20, 24, 28, 32, 32, 32, 32]) {
      const any = randomBytes(length)
      const expected = Buffer.from(mnemonicToSeedSync(entropyToMnemonic(any, wordlist)))
      expect(await seedOf(any), any.toString('hex')).toEqual(expected)
    }
  })

  it.each([
    ['native', nativeSigner],
    ['WebAssembly', webAssemblySigner],
    ['oracle', async () => pureSigner],
  ] as const)(
    'gives the same key at an index whatever else is derived, with the %s signer',
    async (_, makeSigner) => {
      const signer = await makeSigner()
      const entropy = newEntropy()
      const indexes = Array.from({ length: 40 }, (_, index) => index)
      const all = await deriveKeys(signer, 'evm', entropy, indexes)
      expect(new Set(all.map((key) => key.address)).size).toBe(40)
      const [alone] = await deriveKeys(signer, 'evm', entropy, [33])
      expect(alone).toEqual(all[33])
      const account = HDKey.fromMasterSeed(await seedOf(entropy)).derive("m/44'/60'/0'/0")
      for (const { index, privateKey } of all)
        expect(privateKey).toEqual(Buffer.from(account.deriveChild(index).privateKey!))
    },
  )
})
