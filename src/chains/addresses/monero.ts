import { keccak_256 } from '@noble/hashes/sha3'
import { base58xmr } from '@scure/base'
import { decodeMoneroBase58 } from '#chains/addresses/base-encodings'
import type { Environment } from '../network.ts'

const networks = {
  LIVE: { standard: 18, integrated: 19, subaddress: 42 },
  TEST: { standard: 53, integrated: 54, subaddress: 63 },
}
const keysBytes = 64
const paymentIdBytes = 8

/** A standard address or a subaddress. An integrated one is returned without its payment id: it has the same owner. */
export function parseMoneroAddress(text: string, environment: Environment): string | undefined {
  const bytes = decodeMoneroBase58(text)
  if (!bytes || !checksumOf(bytes.subarray(0, -4)).equals(bytes.subarray(-4))) return undefined
  const { standard, integrated, subaddress } = networks[environment]
  const [version, idBytes] = [bytes[0], bytes.length - 1 - keysBytes - 4]
  if (version === integrated && idBytes === paymentIdBytes) {
    const payload = Buffer.from([standard, ...bytes.subarray(1, 1 + keysBytes)])
    return base58xmr.encode(Buffer.concat([payload, checksumOf(payload)]))
  }
  return (version === standard || version === subaddress) && idBytes === 0 ? text : undefined
}

const checksumOf = (payload: Uint8Array) => Buffer.from(keccak_256(payload).subarray(0, 4))
