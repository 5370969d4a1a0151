/** Returns the payload of a key that signs only digests; throws for another length. */
export function requireDigest(payload: Buffer): Buffer {
  if (payload.length !== 32) throw new Error('the key signs digests of 32 bytes only')
  return payload
}
