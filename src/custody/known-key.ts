import { bytesOf, type Hex } from '#lib/hex'
import type { Custody } from './custody.ts'
import { addressOf } from './hierarchy.ts'
import type { Address, Signature } from './types.ts'

/** A key that is no secret, such as the one of the sandbox's faucet: nothing of it is sealed or stored. */
export type KnownKey = { address: Address; sign(digest: Buffer): Signature }

export function openKnownKey({ signer }: Custody, privateKey: Hex): KnownKey {
  const bytes = bytesOf(privateKey)
  return { address: addressOf(signer, bytes), sign: (digest) => signer.sign(digest, bytes) }
}
