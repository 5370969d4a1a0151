import type { Signer } from './signers/signer.ts'
import type { KeyFamily } from './types.ts'

/** How keys of a family sign. A further family is a further row of `families`, with a curve and a form of its own. */
type Family = {
  /** Signs a payload: a digest of 32 bytes on secp256k1, a message of any length on Ed25519. */
  sign(signer: Signer, payload: Buffer, privateKey: Buffer): Buffer
  /** The 32 bytes by which the signing ledger knows a payload: the digest itself, or the hash of a message. */
  digestOf(payload: Buffer): Buffer
}

const families: Record<KeyFamily, Family> = {
  evm: {
    sign: (signer, payload, privateKey) => signer.sign(requireDigest(payload), privateKey),
    digestOf: requireDigest,
  },
}

function requireDigest(payload: Buffer): Buffer {
  if (payload.length !== 32) throw new Error('the key signs digests of 32 bytes only')
  return payload
}

/** The family of a stored key. */
export function familyOfKey(key: { family: string }): Family {
  const family = families[key.family as KeyFamily]
  if (!family) throw new Error(`there are no keys of the family ${key.family}`)
  return family
}
