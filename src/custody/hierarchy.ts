import { pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { keccak_256 } from '@noble/hashes/sha3'
import { HDKey } from '@scure/bip32'
import { entropyToMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english'
import type { Signer } from './signers/signer.ts'
import type { Address } from './types.ts'

const stretch = promisify(pbkdf2)

/** The external chain of the first account: an address index is appended to it (BIP-44, coin type 60). */
const accountPath = "m/44'/60'/0'/0"

/** 256 bits from the operating system: what a BIP-39 phrase of 24 words stands for. */
export const newEntropy = (): Buffer => randomBytes(32)

/** The BIP-39 seed of the entropy, without passphrase. Stretched off the event loop, unlike the library's. */
export const seedOf = (entropy: Uint8Array): Promise<Buffer> =>
  stretch(entropyToMnemonic(entropy, wordlist).normalize('NFKD'), 'mnemonic', 2048, 64, 'sha512')

export type DerivedKey = { index: number; privateKey: Buffer; address: Address }

/** Derives the keys at `indexes`, giving the event loop a turn now and then; the caller wipes the private keys. */
export async function deriveKeys(
  signer: Signer,
  entropy: Uint8Array,
  indexes: readonly number[],
): Promise<DerivedKey[]> {
  const seed = await seedOf(entropy)
  const account = HDKey.fromMasterSeed(seed).derive(accountPath)
  seed.fill(0)
  const derived: DerivedKey[] = []
  for (const [turn, index] of indexes.entries()) {
    if (turn % 16 === 15) await new Promise((resume) => setImmediate(resume))
    const child = account.deriveChild(index)
    const privateKey = Buffer.from(child.privateKey!)
    child.wipePrivateData()
    derived.push({ index, privateKey, address: addressOf(signer, privateKey) })
  }
  account.wipePrivateData()
  return derived
}

/** The EVM address of a private key, lower case. */
export function addressOf(signer: Signer, privateKey: Uint8Array): Address {
  const hash = keccak_256(signer.publicKeyOf(privateKey).subarray(1))
  return `0x${Buffer.from(hash.subarray(12)).toString('hex')}`
}
