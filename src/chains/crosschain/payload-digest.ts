import { keccak_256 } from '@noble/hashes/sha3'
import { type Hex, hexOf } from '#lib/hex'

/**
 * The 32 bytes that a signer of the service signs, for an encoded attestation (set) and for the bytes of a burn alike: the
 * personal-message hash (EIP-191) of the keccak256 of the payload.
 */
export const payloadDigest = (payload: Uint8Array): Hex =>
  hexOf(keccak_256(Buffer.concat([Buffer.from('\x19Ethereum Signed Message:\n32'), keccak_256(payload)])))
