import { createDecipheriv } from 'node:crypto'

export const nonceBytes = 12
export const tagBytes = 16

/** A key that protects nothing: what it decrypts only overwrites memory. */
const unusedKey = Buffer.alloc(32)

/**
 * Decrypts AES-256-GCM. `bound` is the additional authenticated data; `sealed` is the ciphertext, followed by its tag. Returns the
 * plain bytes, which the caller wipes, or `undefined` when the tag does not match.
 *
 * Node decrypts into one piece of memory, copies the plain bytes into another one, and frees the first unwiped. The allocator
 * gives the piece that was freed last to the next request for as much: a second decryption of that length overwrites it.
 */
export function decrypt(key: Buffer, nonce: Buffer, bound: Buffer, sealed: Buffer): Buffer | undefined {
  const options = { authTagLength: tagBytes }
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, options)
  const overwriting = createDecipheriv('aes-256-gcm', unusedKey, nonce, options)
  const end = sealed.length - tagBytes
  const zeros = Buffer.alloc(end)
  decipher.setAAD(bound)
  decipher.setAuthTag(sealed.subarray(end))
  const plain = decipher.update(sealed.subarray(0, end))
  overwriting.update(zeros)
  try {
    decipher.final()
    return plain
  } catch {
    plain.fill(0)
    return undefined
  }
}
