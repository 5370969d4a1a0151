/**
 * Decodes canonical base64 only: the standard alphabet, with padding, that re-encodes to itself.
 * Node's decoder accepts junk and other alphabets, which would give one ciphertext many encodings.
 */
export function parseBase64(text: unknown): Buffer | undefined {
  if (typeof text !== 'string') return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}
