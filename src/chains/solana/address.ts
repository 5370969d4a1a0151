const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Base58 of exactly 32 bytes. */
export function isSolanaAddress(text: string): boolean {
  if (text.length < 32 || text.length > 44) return false
  let value = 0n
  for (const digit of text) {
    const index = alphabet.indexOf(digit)
    if (index < 0) return false
    value = value * 58n + BigInt(index)
  }
  const zeros = /^1*/.exec(text)![0].length
  const bytes = value === 0n ? 0 : Math.ceil(value.toString(16).length / 2)
  return zeros + bytes === 32
}
