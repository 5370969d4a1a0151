/** The digit alphabet of Bitcoin and most others; the XRP Ledger has its own. */
export const bitcoinDigits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

const charactersMax = 128

/** Decodes base58, or returns undefined for other text. Total; the length is bounded, since the cost is quadratic. */
export function decodeBase58(text: string, digits = bitcoinDigits): Buffer | undefined {
  if (text.length > charactersMax) return undefined
  let value = 0n
  for (const digit of text) {
    const index = digits.indexOf(digit)
    if (index < 0) return undefined
    value = value * 58n + BigInt(index)
  }
  const zeros = [...text].findIndex((digit) => digit !== digits[0])
  const hex = value === 0n ? '' : value.toString(16)
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  return Buffer.concat([Buffer.alloc(zeros < 0 ? text.length : zeros), bytes])
}
