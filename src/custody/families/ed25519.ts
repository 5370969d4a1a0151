import { createHash } from 'node:crypto'
import { publicKeyOfEd25519, signEd25519 } from '../signers/ed25519.ts'
import type { Family } from './family.ts'
import { deriveHardened } from './slip10.ts'

/** The facts in which the families on Ed25519 differ. */
type Ed25519Facts = {
  /** The levels before and after the index of a key, all hardened. */
  path: { before: readonly number[]; after: readonly number[] }
  addressOf(publicKey: Buffer): string
  /** Absent where the address is the public key. */
  publicKeyText?: (publicKey: Buffer) => string
}

/** Makes a family whose keys sign messages as they are, by Ed25519. */
export const onEd25519 = ({ path, addressOf, publicKeyText }: Ed25519Facts): Family => ({
  derive: async (_, seed, indexes) =>
    (await deriveHardened(seed, path, indexes)).map(({ index, privateKey }) => {
      const publicKey = publicKeyOfEd25519(privateKey)
      return { index, privateKey, address: addressOf(publicKey), publicKey: publicKeyText?.(publicKey) }
    }),
  addressOf: (_, privateKey) => addressOf(publicKeyOfEd25519(privateKey)),
  sign: (_, payload, privateKey) => signEd25519(payload, privateKey),
  digestOf: (payload) => createHash('sha256').update(payload).digest(),
})
