import { createHash } from 'node:crypto'
import { publicKeyOfEd25519 } from '../signers/ed25519.ts'
import { onEd25519 } from './ed25519.ts'
import type { Family } from './family.ts'

/** The scheme of an account that one Ed25519 key controls. */
const oneKey = Buffer.of(0)

const keys = onEd25519({
  path: { before: [44, 637], after: [0, 0] },
  addressOf: (publicKey) => `0x${createHash('sha3-256').update(publicKey).update(oneKey).digest('hex')}`,
  publicKeyText: (publicKey) => `0x${publicKey.toString('hex')}`,
})

/**
 * m/44'/637'/i'/0'/0'. An address is the hash of the public key and the scheme, until the account rotates its key. It does not tell the
 * key, so that a signature is both: 32 bytes of the public key, and 64 that it signed.
 */
export const aptosKeys: Family = {
  ...keys,
  sign: (signer, payload, privateKey) =>
    Buffer.concat([publicKeyOfEd25519(privateKey), keys.sign(signer, payload, privateKey)]),
}
