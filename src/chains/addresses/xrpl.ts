import { createHash } from 'node:crypto'
import { decodeXrplBase58 } from '#chains/addresses/base-encodings'

/** A classic address ("r…"): an account of 20 bytes. The form that includes a tag ("X…") is not taken. */
export function isXrplAddress(text: string): boolean {
  const bytes = decodeXrplBase58(text)
  if (bytes?.length !== 25 || bytes[0] !== 0) return false
  const sha256 = (data: Buffer) => createHash('sha256').update(data).digest()
  return sha256(sha256(bytes.subarray(0, 21)))
    .subarray(0, 4)
    .equals(bytes.subarray(21))
}
