import { createPublicKey, verify } from 'node:crypto'

/** The start of an Ed25519 public key in DER. */
const derPrefix = Buffer.from('302a300506032b6570032100', 'hex')

/** Whether a key of 32 bytes signed the message. Never throws: no signature is of bytes that are no key. */
export function isSignedByEd25519(publicKey: Uint8Array, message: Buffer, signature: Buffer): boolean {
  try {
    const key = Buffer.concat([derPrefix, publicKey])
    return verify(null, message, createPublicKey({ key, format: 'der', type: 'spki' }), signature)
  } catch {
    return false
  }
}
