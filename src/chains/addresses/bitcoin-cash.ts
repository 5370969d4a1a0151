import { bytesOfWords } from '#chains/addresses/base-encodings'
import type { Environment } from '../network.ts'
import { encodeBase58Check } from './base58check.ts'
import { parseLegacyAddress } from './bitcoin.ts'

const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const prefixes: Record<Environment, string> = { LIVE: 'bitcoincash', TEST: 'bchtest' }
/** Version bytes of the legacy form: of a key's hash and of a script's. */
const legacyVersions: Record<Environment, readonly [number, number]> = {
  LIVE: [0x00, 0x05],
  TEST: [0x6f, 0xc4],
}
const checksumWords = 8

/**
 * CashAddr, with or without its prefix, or the legacy form. Returns the legacy form: the same key owns that address on
 * Bitcoin and its forks, and one list entry matches all of them.
 */
export function parseBitcoinCashAddress(text: string, environment: Environment): string | undefined {
  return parseLegacyAddress(text, environment) ?? parseCashAddress(text, environment)
}

function parseCashAddress(text: string, environment: Environment): string | undefined {
  const isOneCase = text === text.toLowerCase() || text === text.toUpperCase()
  const [body = '', prefix = prefixes[environment], ...more] = text.toLowerCase().split(':').reverse()
  if (!isOneCase || more.length > 0 || prefix !== prefixes[environment] || body.length > 112) return undefined
  const words = [...body].map((letter) => alphabet.indexOf(letter))
  if (words.includes(-1) || remainderOf([...wordsOf(prefix), 0, ...words]) !== 1n) return undefined
  const bytes = bytesOfWords(words.slice(0, -checksumWords))
  return bytes && legacyForm(bytes, environment)
}

/** The version byte holds the kind (key or script, each with or without tokens) and the length of the hash. */
function legacyForm(bytes: Buffer, environment: Environment): string | undefined {
  const [version = 0xff] = bytes
  const [kind, size] = [version >> 3, version & 7]
  const isHash = (size === 0 && bytes.length === 21) || (size === 3 && kind % 2 === 1 && bytes.length === 33)
  if (kind > 3 || !isHash) return undefined
  return encodeBase58Check(Buffer.from([legacyVersions[environment][kind % 2]!, ...bytes.subarray(1)]))
}

const wordsOf = (prefix: string) => [...Buffer.from(prefix)].map((byte) => byte & 31)

const generator = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n]

/** The remainder of the words as a polynomial over GF(32), as CashAddr defines its checksum; 1 when that is right. */
const remainderOf = (words: readonly number[]): bigint =>
  words.reduce((value, word) => {
    const top = value >> 35n
    const shifted = ((value & 0x07_ffff_ffffn) << 5n) ^ BigInt(word)
    return generator.reduce((sum, term, bit) => ((top >> BigInt(bit)) & 1n ? sum ^ term : sum), shifted)
  }, 1n)
