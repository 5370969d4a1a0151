import { base58 } from '@scure/base'
import { requireDigest } from './digest.ts'
import { onEd25519 } from './ed25519.ts'
import type { Family } from './family.ts'

const keys = onEd25519({
  path: { before: [44, 397], after: [] },
  addressOf: (publicKey) => publicKey.toString('hex'),
  publicKeyText: (publicKey) => base58.encode(publicKey),
})

/** m/44'/397'/i'. An address is the implicit account of the key, and the signed message is always the hash of a transaction. */
export const near: Family = {
  ...keys,
  sign: (signer, payload, privateKey) => keys.sign(signer, requireDigest(payload), privateKey),
  digestOf: requireDigest,
}
