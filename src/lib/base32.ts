const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const charactersMax = 128

/** Decodes base32 (RFC 4648, without padding), or returns undefined; every value has one encoding only. Total. */
export function decodeBase32(text: string): Buffer | undefined {
  if (text.length > charactersMax) return undefined
  const values = [...text].map((digit) => digits.indexOf(digit))
  return values.includes(-1) ? undefined : bytesOfQuintets(values)
}

/** Packs 5-bit values into bytes. Leftover bits must be fewer than 5 and zero, or the bytes would have several encodings. */
export function bytesOfQuintets(values: readonly number[]): Buffer | undefined {
  const bytes: number[] = []
  let bits = 0
  let held = 0
  for (const value of values) {
    held = (held << 5) | value
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes.push(held >> bits)
    held &= (1 << bits) - 1
  }
  return bits >= 5 || held !== 0 ? undefined : Buffer.from(bytes)
}
