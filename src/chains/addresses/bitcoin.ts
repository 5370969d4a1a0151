import { createHash } from 'node:crypto'
import { bytesOfWords, decodeBase58, decodeBech32 } from '#lib/base-encodings'
import type { Environment } from '../blockchains.ts'

const networks = {
  LIVE: { versions: [0x00, 0x05], prefix: 'bc' },
  TEST: { versions: [0x6f, 0xc4], prefix: 'tb' },
}

/** A key or script hash (base58 with checksum), or a witness program (BIP-173, BIP-350), returned in lower case. */
export function parseBitcoinAddress(text: string, environment: Environment): string | undefined {
  const { versions, prefix } = networks[environment]
  const payload = checkedBase58(text)
  if (payload) return payload.length === 21 && versions.includes(payload[0]!) ? text : undefined
  return isWitnessProgram(text, prefix) ? text.toLowerCase() : undefined
}

function checkedBase58(text: string): Buffer | undefined {
  const bytes = decodeBase58(text)
  if (!bytes || bytes.length < 5) return undefined
  const payload = bytes.subarray(0, -4)
  const sha256 = (data: Buffer) => createHash('sha256').update(data).digest()
  return sha256(sha256(payload)).subarray(0, 4).equals(bytes.subarray(-4)) ? payload : undefined
}

function isWitnessProgram(text: string, prefix: string): boolean {
  const decoded = decodeBech32(text)
  if (decoded?.prefix !== prefix) return false
  const [version = 17, ...rest] = decoded.words
  const length = bytesOfWords(rest)?.length ?? 0
  if (version === 0) return decoded.encoding === 'bech32' && (length === 20 || length === 32)
  // Later versions are not defined yet, so an address of one cannot be told from a mistake.
  return version === 1 && decoded.encoding === 'bech32m' && length === 32
}
