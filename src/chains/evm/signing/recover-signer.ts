import { createRequire } from 'node:module'
import { keccak_256 } from '@noble/hashes/sha3'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import { once } from '#runtime/scheduling/memoize'
import { canonicalAddress } from '../../addresses/canonical.ts'
import type { Address } from '../../addresses/types.ts'

type Library = typeof import('tiny-secp256k1')
/** Compiled on first use: most processes recover no signer. */
const libsecp256k1 = once(() => createRequire(import.meta.url)('tiny-secp256k1') as Library)

/**
 * The address whose key signed the digest, in canonical form; undefined for bytes that are no signature. The contracts refuse
 * signatures with `s` in the upper half of the order and with another last byte than 27 or 28, and so does this. A caller
 * without a key makes the server do this, so libsecp256k1 does it: JavaScript takes four times as long or more.
 */
export async function recoverSigner(digest: Hex, signature: Hex): Promise<Address | undefined> {
  const parts = /^0x([0-9a-fA-F]{64}([0-9a-fA-F]{64}))1([bBcC])$/.exec(signature)
  if (!parts || BigInt(`0x${parts[2]!}`) > halfOrder) return undefined
  const recoveryId = parts[3]!.toLowerCase() === 'c' ? 1 : 0
  const { recover } = libsecp256k1()
  try {
    const point = recover(bytesOf(digest), bytesOf(`0x${parts[1]!}`), recoveryId, false)
    return point ? addressOfPoint(point) : undefined
  } catch {
    return undefined
  }
}

/** An account is named by the last 20 bytes of the hash of its public key, without the leading byte of the encoding. */
const addressOfPoint = (point: Uint8Array) =>
  canonicalAddress(hexOf(keccak_256(point.subarray(1)).subarray(12))) as Address

const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
