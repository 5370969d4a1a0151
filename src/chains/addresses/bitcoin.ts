import { bytesOfWords, decodeBech32 } from '#chains/addresses/base-encodings'
import type { Environment } from '../network.ts'
import { decodeBase58Check, isVersionedHash } from './base58check.ts'

const networks = {
  LIVE: { versions: [0x00, 0x05], prefix: 'bc' },
  TEST: { versions: [0x6f, 0xc4], prefix: 'tb' },
}

/** A key or script hash (base58 with checksum), or a witness program (BIP-173, BIP-350), returned in lower case. */
export function parseBitcoinAddress(text: string, environment: Environment): string | undefined {
  const { versions, prefix } = networks[environment]
  return parseHashAddress(text, versions) ?? parseWitnessAddress(text, prefix)
}

/** The form without witness programs, which Bitcoin SV and Bitcoin Cash share with Bitcoin. */
export const parseLegacyAddress = (text: string, environment: Environment): string | undefined =>
  parseHashAddress(text, networks[environment].versions)

export function parseHashAddress(text: string, versions: readonly number[]): string | undefined {
  const payload = decodeBase58Check(text)
  return payload && isVersionedHash(payload, versions) ? text : undefined
}

export function parseWitnessAddress(text: string, prefix: string): string | undefined {
  const decoded = decodeBech32(text)
  if (decoded?.prefix !== prefix) return undefined
  const [version = 17, ...rest] = decoded.words
  const length = bytesOfWords(rest)?.length ?? 0
  // Later versions are not defined yet, so an address of one cannot be told from a mistake.
  const isDefined =
    version === 0
      ? decoded.encoding === 'bech32' && (length === 20 || length === 32)
      : version === 1 && decoded.encoding === 'bech32m' && length === 32
  return isDefined ? text.toLowerCase() : undefined
}
