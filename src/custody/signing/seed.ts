/** The seed from which keys are derived: entropy, its phrase (BIP-39), and the keys of a family at its indexes. */
import { createHash, pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { wordlist } from '@scure/bip39/wordlists/english'
import type { DerivedKey } from '../families/family.ts'
import { familyOfKey } from '../families/index.ts'
import type { Signer } from '../signers/signer.ts'
import type { KeyFamily } from '../wallets/types.ts'

const stretch = promisify(pbkdf2)

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

/** Derives the keys of a family at `indexes` and yields to the event loop now and then; the caller wipes the private keys. */
export async function deriveKeys(
  signer: Signer,
  family: KeyFamily,
  entropy: Uint8Array,
  indexes: readonly number[],
): Promise<DerivedKey[]> {
  const seed = await seedOf(entropy)
  return familyOfKey({ family })
    .derive(signer, seed, indexes)
    .finally(() => seed.fill(0))
}
