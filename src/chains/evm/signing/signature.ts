import { type Hex, hexOf } from '#lib/hex'
import type { Signature } from '../../facets/payments.ts'

/** Splits the 65 bytes of a signature: r, s, and the parity of the point that recovers the key. */
export function splitSignature(signature: Signature): { r: Hex; s: Hex; yParity: 0 | 1 } {
  const yParity = signature[64]
  if (signature.length !== 65 || (yParity !== 0 && yParity !== 1))
    throw new Error('a signature of an EVM key has 65 bytes, the last of them 0 or 1')
  return { r: hexOf(signature.subarray(0, 32)), s: hexOf(signature.subarray(32, 64)), yParity }
}
