import { bytesOf, type Hex } from '#lib/hex'
import type { Custody } from './custody.ts'
import { addressOf } from './hierarchy.ts'
import type { EcdsaSignature } from './types.ts'

/** A publicly known key, such as that of the sandbox's faucet: none of it is sealed or stored. */
export type KnownKey = { address: string; sign(digest: Buffer): EcdsaSignature }

export function openKnownKey({ signer }: Custody, privateKey: Hex): KnownKey {
  const bytes = bytesOf(privateKey)
  return { address: addressOf(signer, bytes), sign: (digest) => signer.sign(digest, bytes) }
}
