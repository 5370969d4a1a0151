import { hashMessage } from 'viem'
import type { Hex } from '#lib/hex'
import { bytesOf, hexOf } from '#lib/hex'
import type { Signature } from '../../facets/payments.ts'
import { splitSignature } from './signature.ts'

/** The 32 bytes to sign for a personal message (EIP-191). */
export const personalMessageDigest = (bytes: Uint8Array): Buffer =>
  bytesOf(hashMessage({ raw: hexOf(bytes) }))

/** The 65 bytes that contracts and clients take: r, s and 27 or 28. */
export function packSignature(signature: Signature): Hex {
  const { r, s, yParity } = splitSignature(signature)
  return `${r}${s.slice(2)}${hexOf(Buffer.of(27 + yParity)).slice(2)}`
}

/** The signature that was packed so. */
export function unpackSignature(packed: Hex): Signature {
  const bytes = bytesOf(packed)
  return Buffer.concat([bytes.subarray(0, 64), Buffer.of(bytes[64]! - 27)])
}
