import { bytesOf, type Hex } from '#lib/hex'
import type { Custody } from '../custody.ts'
import { familyOfKey } from '../families/index.ts'
import type { KeyFamily } from '../wallets/types.ts'

/** A publicly known key, such as that of the sandbox's faucet: none of it is sealed or stored. */
export type KnownKey = { address: string; sign(payload: Buffer): Buffer }

/** Makes a signer of a private key, 0x and 64 hexadecimal digits. */
export function openKnownKey({ signer }: Custody, family: KeyFamily, privateKey: Hex): KnownKey {
  const bytes = bytesOf(privateKey)
  const { addressOf, sign } = familyOfKey({ family })
  return { address: addressOf(signer, bytes), sign: (payload) => sign(signer, payload, bytes) }
}
