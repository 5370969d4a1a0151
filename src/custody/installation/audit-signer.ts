import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { auditHeadKey } from '../sealing/contexts.ts'
import { deriveBytes, openVault, type Vault } from '../sealing/sealing.ts'

/**
 * Signs the newest hashes of audit trails with Ed25519. The key is derived from the root key, so that write access to the database
 * alone is not enough to forge a trail.
 */
export type AuditSigner = {
  /** The 32 bytes of the public key. */
  publicKey: Buffer
  /** Returns a signature of 64 bytes. */
  sign(bytes: Buffer): Buffer
}

/** PKCS #8 and SubjectPublicKeyInfo of an Ed25519 key (RFC 8410), up to the 32 bytes of the key. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex')

/** Derives the key and opens its signer. */
export function openAuditSigner({ root }: Pick<Vault, 'root'>): AuditSigner {
  const seed = deriveBytes(root, auditHeadKey)
  const der = Buffer.concat([pkcs8Prefix, seed])
  seed.fill(0)
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  der.fill(0)
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32)
  return { publicKey, sign: (bytes) => sign(null, bytes, key) }
}

/** Returns the signer's public key, 32 bytes, for a program that only verifies. */
export const auditPublicKeyOf = (rootKey: Buffer): Buffer => openAuditSigner(openVault(rootKey)).publicKey

/** Makes the key that `isAuditSignature` takes of the 32 bytes of a public key. */
export const auditVerifyingKey = (publicKey: Buffer): KeyObject =>
  createPublicKey({ key: Buffer.concat([spkiPrefix, publicKey]), format: 'der', type: 'spki' })

/** Whether the signature of the bytes was made with the private key of `key`. */
export const isAuditSignature = (key: KeyObject, bytes: Buffer, signature: Buffer): boolean =>
  verify(null, bytes, key, signature)
