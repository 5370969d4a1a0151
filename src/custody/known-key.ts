import { bytesOf, type Hex } from '#lib/hex'
import type { Custody } from './custody.ts'
import { familyOfKey } from './families.ts'
import { addressOf } from './hierarchy.ts'

/** A publicly known key, such as that of the sandbox's faucet: none of it is sealed or stored. */
export type KnownKey = { address: string; sign(payload: Buffer): Buffer }

export function openKnownKey({ signer }: Custody, privateKey: Hex): KnownKey {
  const bytes = bytesOf(privateKey)
  const { sign } = familyOfKey({ family: 'evm' })
  return { address: addressOf(signer, bytes), sign: (payload) => sign(signer, payload, bytes) }
}
