/**
 * Texts that a command-line tool and the server seal for each other under the key of a token: canonical base64 of a nonce of 12 bytes,
 * and what AES-256-GCM made of the UTF-8 text with it, the tag of 16 bytes last.
 */
import { createCipheriv, randomBytes } from 'node:crypto'
import { decrypt, nonceBytes, tagBytes } from '#custody/sealing/index'
import { parseBase64 } from '#lib/base64'

const unbound = Buffer.alloc(0)

export function sealText(key: Buffer, text: string): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString('base64')
}

/** The members of a sealed JSON object; undefined when it does not open. */
export function openJson(key: Buffer, sealed: string): Record<string, unknown> | undefined {
  const bytes = parseBase64(sealed)
  if (!bytes || bytes.length < nonceBytes + tagBytes) return undefined
  const plain = decrypt(key, bytes.subarray(0, nonceBytes), unbound, bytes.subarray(nonceBytes))
  if (!plain) return undefined
  try {
    const value: unknown = JSON.parse(plain.toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  } finally {
    plain.fill(0)
  }
}
