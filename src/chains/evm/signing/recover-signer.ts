import { createRequire } from 'node:module'
import { keccak_256 } from '@noble/hashes/sha3'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import { once } from '#runtime/scheduling/memoize'
import { canonicalAddress } from '../../addresses/canonical.ts'
import type { Address } from '../../addresses/types.ts'

/** The uncompressed public key whose private key signed; throws, or returns null, where there is none. */
type Recover = (digest: Buffer, signature: Buffer, recoveryId: 0 | 1) => Uint8Array | null

const load = createRequire(import.meta.url)

/** The build for this machine, a quarter of the time of the other one. Its own entry would fall back to JavaScript. */
function nativeRecover(): Recover {
  const { ecdsaRecover } = load('secp256k1/bindings.js') as typeof import('secp256k1')
  return (digest, signature, recoveryId) => ecdsaRecover(signature, recoveryId, digest, false)
}

/** The same library as WebAssembly, where no build fits. */
function webAssemblyRecover(): Recover {
  const { recover } = load('tiny-secp256k1') as typeof import('tiny-secp256k1')
  return (digest, signature, recoveryId) => recover(digest, signature, recoveryId, false)
}

/** A signature and its signer, of the tests of Ethereum for the precompiled contract that recovers signers. */
const known = {
  digest: '0x456e9aea5e197a1f1af7a3e85a3212fa4049a3ba34c2289b4c860fc0b0c64ef3',
  signature:
    '0x9242685bf161793cc25603c231bc2f568eb630ea16aa137d2664ac80388256084f8ae3bd7535248d0bd448298cc2e2071e56992d0774dc340c368ae950852ada',
  signer: '0x7156526fbd7a3c72969b54f64e42c10fbb768c8a',
} as const

/** Loaded on first use: most processes recover no signer. */
const libsecp256k1 = once((): Recover => {
  try {
    const native = nativeRecover()
    const point = native(bytesOf(known.digest), bytesOf(known.signature), 1)
    if (point && addressOfPoint(point) === known.signer) return native
  } catch {
    // No build fits this machine.
  }
  return webAssemblyRecover()
})

/**
 * The address whose key signed the digest, in canonical form; undefined for bytes that are no signature. The contracts refuse
 * signatures with `s` in the upper half of the order and with another last byte than 27 or 28, and so does this. A caller
 * without a key makes the server do this, so libsecp256k1 does it: JavaScript takes four times as long or more.
 */
export async function recoverSigner(digest: Hex, signature: Hex): Promise<Address | undefined> {
  const parts = /^0x([0-9a-fA-F]{64}([0-9a-fA-F]{64}))1([bBcC])$/.exec(signature)
  if (!parts || BigInt(`0x${parts[2]!}`) > halfOrder) return undefined
  const recoveryId = parts[3]!.toLowerCase() === 'c' ? 1 : 0
  const recover = libsecp256k1()
  try {
    const point = recover(bytesOf(digest), bytesOf(`0x${parts[1]!}`), recoveryId)
    return point ? addressOfPoint(point) : undefined
  } catch {
    return undefined
  }
}

/** An account is named by the last 20 bytes of the hash of its public key, without the leading byte of the encoding. */
const addressOfPoint = (point: Uint8Array) =>
  canonicalAddress(hexOf(keccak_256(point.subarray(1)).subarray(12))) as Address

const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
