import { createHash } from 'node:crypto'
import { createBase58check } from '@scure/base'
import { decodeBase58 } from '#chains/addresses/base-encodings'

const sha256 = (data: Uint8Array): Buffer => createHash('sha256').update(data).digest()
const coder = createBase58check(sha256)

/** The payload of base58 text whose last 4 bytes are the double SHA-256 of the others. Total. */
export function decodeBase58Check(text: string): Buffer | undefined {
  const bytes = decodeBase58(text)
  if (!bytes || bytes.length < 5) return undefined
  const payload = bytes.subarray(0, -4)
  return sha256(sha256(payload)).subarray(0, 4).equals(bytes.subarray(-4)) ? payload : undefined
}

export const encodeBase58Check = (payload: Uint8Array): string => coder.encode(payload)

/** Whether the payload is a hash of 20 bytes behind one of these version bytes. */
export const isVersionedHash = (payload: Buffer, versions: readonly number[]): boolean =>
  payload.length === 21 && versions.includes(payload[0]!)
