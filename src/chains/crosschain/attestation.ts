import { keccak_256 } from '@noble/hashes/sha3'
import { bytesOf, type Hex, hexOf, isHex } from '#lib/hex'
import { canonicalAddress } from '../addresses/canonical.ts'
import type { Address } from '../addresses/types.ts'
import { recoverSigner } from '../evm/signing/recover-signer.ts'

/** The 32 bytes that attesters sign: the hash of the filled message as it is, without a prefix. */
export const messageDigest = (message: Hex): Hex => hexOf(keccak_256(bytesOf(message)))

const signatureBytes = 65

/**
 * The attestation that these signatures of `digest` make: r, s, and 27 or 28 of each, ordered by the address that it recovers to.
 * Throws when two of them have the same signer.
 */
export async function joinSignatures(digest: Hex, signatures: readonly Hex[]): Promise<Hex> {
  const signed = await Promise.all(
    signatures.map(async (signature) => {
      const signer = await recoverSigner(digest, signature)
      if (signer === undefined) throw new Error('the bytes are no signature of the digest')
      return { bytes: bytesOf(signature), signer }
    }),
  )
  if (new Set(signed.map(({ signer }) => signer)).size !== signed.length)
    throw new Error('two signatures of an attestation have the same signer')
  signed.sort((left, right) => (left.signer < right.signer ? -1 : 1))
  return hexOf(Buffer.concat(signed.map(({ bytes }) => bytes)))
}

type Attested = {
  message: Hex
  attestation: Hex
  attesters: readonly Address[]
  /** How many of them have to sign. */
  threshold: number
}

/** `length`: not exactly the signatures that are needed. `order`: not ascending by signer, or one signer twice. */
type AttestationProblem = 'length' | 'signature' | 'order' | 'not-attester'

/** Why a transmitter with these attesters would refuse the attestation; undefined where it would not. */
export async function attestationProblem({
  message,
  attestation,
  attesters,
  threshold,
}: Attested): Promise<AttestationProblem | undefined> {
  if (threshold < 1 || !isHex(attestation, signatureBytes * threshold)) return 'length'
  const known = new Set(attesters.map((attester) => canonicalAddress(attester)))
  const digest = messageDigest(message)
  const bytes = bytesOf(attestation)
  let previous = ''
  for (let start = 0; start < bytes.length; start += signatureBytes) {
    const signer = await recoverSigner(digest, hexOf(bytes.subarray(start, start + signatureBytes)))
    if (signer === undefined) return 'signature'
    if (signer <= previous) return 'order'
    if (!known.has(signer)) return 'not-attester'
    previous = signer
  }
  return undefined
}

/** The signers of an attestation, in its order; bytes that are no signature are left out. */
export async function signersOf(digest: Hex, attestation: Hex): Promise<Address[]> {
  const bytes = bytesOf(attestation)
  const signers: Address[] = []
  for (let start = 0; start < bytes.length; start += signatureBytes) {
    const signer = await recoverSigner(digest, hexOf(bytes.subarray(start, start + signatureBytes)))
    if (signer !== undefined) signers.push(signer)
  }
  return signers
}
