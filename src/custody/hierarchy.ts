import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { keccak_256 } from '@noble/hashes/sha3'
import { wordlist } from '@scure/bip39/wordlists/english'
import type { Signer } from './signers/signer.ts'

const stretch = promisify(pbkdf2)

/** Added to the index of a child that only the private key of its parent can derive (BIP-32). */
const hardened = 0x8000_0000

/** m/44'/60'/0'/0, the external chain of the first account: an address index is appended to it (BIP-44, coin type 60). */
const accountPath = [44 + hardened, 60 + hardened, hardened, 0]

/** 256 bits from the operating system, the entropy of a BIP-39 phrase of 24 words. */
export const newEntropy = (): Buffer => randomBytes(32)

/** The BIP-39 seed of the entropy, without passphrase, stretched off the event loop. */
export async function seedOf(entropy: Uint8Array): Promise<Buffer> {
  const phrase = phraseOf(entropy)
  return stretch(phrase, 'mnemonic', 2048, 64, 'sha512').finally(() => phrase.fill(0))
}

/**
 * The BIP-39 phrase in a buffer that can be wiped, which a string cannot: a word for every 11 bits of the entropy and its
 * checksum. English words are ASCII, so they need no normalisation.
 */
function phraseOf(entropy: Uint8Array): Buffer {
  const checksum = createHash('sha256').update(entropy).digest()
  const bits = Buffer.concat([entropy, checksum.subarray(0, 1), Buffer.alloc(2)])
  const words = (entropy.length * 3) / 4
  const longest = 8
  const phrase = Buffer.alloc(words * (longest + 1))
  let length = 0
  for (let word = 0; word < words; word++) {
    const first = word * 11
    const index = (bits.readUIntBE(first >> 3, 3) >> (13 - (first & 7))) & 0x7ff
    if (word > 0) length += phrase.write(' ', length)
    length += phrase.write(wordlist[index]!, length)
  }
  bits.fill(0)
  return phrase.subarray(0, length)
}

/** A key pair with the chain code that its children are derived with (BIP-32). The public key has 65 bytes. */
type ExtendedKey = { privateKey: Buffer; publicKey: Buffer; chainCode: Buffer }

/** Splits a digest: its left half is the private key, to which a child adds that of its parent. */
function extendedKeyOf(signer: Signer, digest: Buffer, parent?: ExtendedKey): ExtendedKey {
  const privateKey = digest.subarray(0, 32)
  // One sum in 2^127 is no private key: its index cannot be used.
  if (parent) signer.addToPrivateKey(privateKey, parent.privateKey)
  return { privateKey, publicKey: signer.publicKeyOf(privateKey), chainCode: digest.subarray(32) }
}

function childOf(signer: Signer, parent: ExtendedKey, index: number): ExtendedKey {
  const input = Buffer.alloc(37)
  if (index >= hardened) parent.privateKey.copy(input, 1)
  else compress(parent.publicKey).copy(input)
  input.writeUInt32BE(index, 33)
  const digest = createHmac('sha512', parent.chainCode).update(input).digest()
  input.fill(0)
  return extendedKeyOf(signer, digest, parent)
}

/** The 33 bytes of a public key of 65. */
const compress = (publicKey: Buffer): Buffer =>
  Buffer.concat([Buffer.of(2 + (publicKey[64]! & 1)), publicKey.subarray(1, 33)])

function accountOf(signer: Signer, seed: Buffer): ExtendedKey {
  let key = extendedKeyOf(signer, createHmac('sha512', 'Bitcoin seed').update(seed).digest())
  for (const index of accountPath) {
    const child = childOf(signer, key, index)
    wipe(key)
    key = child
  }
  return key
}

function wipe({ privateKey, chainCode }: ExtendedKey): void {
  privateKey.fill(0)
  chainCode.fill(0)
}

type DerivedKey = { index: number; privateKey: Buffer; address: string }

/** Derives the keys at `indexes` and yields to the event loop now and then; the caller wipes the private keys. */
export async function deriveKeys(
  signer: Signer,
  entropy: Uint8Array,
  indexes: readonly number[],
): Promise<DerivedKey[]> {
  const seed = await seedOf(entropy)
  const account = accountOf(signer, seed)
  seed.fill(0)
  const derived: DerivedKey[] = []
  for (const [turn, index] of indexes.entries()) {
    if (turn % 64 === 63) await new Promise((resume) => setImmediate(resume))
    const { privateKey, publicKey, chainCode } = childOf(signer, account, index)
    chainCode.fill(0)
    derived.push({ index, privateKey, address: addressOfPublicKey(publicKey) })
  }
  wipe(account)
  return derived
}

/** The EVM address of a private key, lower case. */
export const addressOf = (signer: Signer, privateKey: Uint8Array): string =>
  addressOfPublicKey(signer.publicKeyOf(privateKey))

function addressOfPublicKey(publicKey: Buffer): string {
  const hash = keccak_256(publicKey.subarray(1))
  return `0x${Buffer.from(hash.subarray(12)).toString('hex')}`
}
