import { createHash } from 'node:crypto'
import { decodeBase32 } from '#chains/addresses/base-encodings'

/** A public key of 32 bytes and the last 4 bytes of its SHA-512/256, in base32. */
export function isAlgorandAddress(text: string): boolean {
  const bytes = decodeBase32(text)
  if (bytes?.length !== 36) return false
  const digest = createHash('sha512-256').update(bytes.subarray(0, 32)).digest()
  return digest.subarray(28).equals(bytes.subarray(32))
}
