import { keccak_256 } from '@noble/hashes/sha3'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import type { Config } from '#runtime/config'

/** Another attester, which this server asks for signatures. */
export type Attester = { address: string; url: string; token: string }

export const attestersOf = ({ attesters }: Config): Attester[] =>
  attesters.flatMap(({ publicKey, service }) =>
    service ? [{ address: addressOfPublicKey(publicKey), ...service }] : [],
  )

/** The addresses of all other attesters that the settings name, those that are asked no more included. */
export const attesterAddresses = ({ attesters }: Config): string[] =>
  attesters.map(({ publicKey }) => addressOfPublicKey(publicKey))

/** The canonical address of an uncompressed public key. */
const addressOfPublicKey = (publicKey: Hex): string =>
  hexOf(keccak_256(bytesOf(publicKey).subarray(1)).subarray(-20))
