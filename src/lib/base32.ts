const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const charactersMax = 128

/** The bytes that base32 (RFC 4648, without padding) stands for, or undefined; every value has one writing only. Total. */
export function decodeBase32(text: string): Buffer | undefined {
  if (text.length > charactersMax) return undefined
  const values = [...text].map((digit) => digits.indexOf(digit))
  return values.includes(-1) ? undefined : bytesOfQuintets(values)
}

/** Values of 5 bits as bytes: what is left over must be fewer than 5 bits and zero, or the bytes had another writing. */
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
