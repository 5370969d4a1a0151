import { createHash } from 'node:crypto'
import { decodeBase58 } from '#chains/addresses/base-encodings'
import type { Environment } from '../network.ts'

/** 0 is Polkadot, 42 the form that test networks use. */
const prefixes: Record<Environment, readonly number[]> = { LIVE: [0], TEST: [0, 42] }

/** SS58: the network's prefix, a public key of 32 bytes and two bytes of checksum, in base58. */
export function isPolkadotAddress(text: string, environment: Environment): boolean {
  const bytes = decodeBase58(text)
  if (bytes?.length !== 35 || !prefixes[environment].includes(bytes[0]!)) return false
  const digest = createHash('blake2b512').update('SS58PRE').update(bytes.subarray(0, 33)).digest()
  return digest.subarray(0, 2).equals(bytes.subarray(33))
}
