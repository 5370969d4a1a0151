/** Ed25519 of OpenSSL, which this process has on every machine. A private key is a seed of 32 bytes (RFC 8032). */
import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'

/** The head of PKCS #8 before the 32 bytes of a private key. */
const head = Buffer.from('302e020100300506032b657004220420', 'hex')

function keyObjectOf(privateKey: Uint8Array): KeyObject {
  if (privateKey.length !== 32) throw new Error('a private key of Ed25519 has 32 bytes')
  const key = Buffer.concat([head, privateKey])
  try {
    return createPrivateKey({ key, format: 'der', type: 'pkcs8' })
  } finally {
    key.fill(0)
  }
}

/** The public key as 32 bytes. */
export const publicKeyOfEd25519 = (privateKey: Uint8Array): Buffer =>
  createPublicKey(keyObjectOf(privateKey)).export({ format: 'der', type: 'spki' }).subarray(-32)

/** Signs a message; the signature has 64 bytes, and the same message always has the same one. */
export const signEd25519 = (message: Uint8Array, privateKey: Uint8Array): Buffer =>
  sign(null, message, keyObjectOf(privateKey))
