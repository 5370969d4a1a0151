/** The order in which Bitcoin and most others write digits; the XRP Ledger has one of its own. */
export const bitcoinDigits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

const charactersMax = 128

/** The bytes that base58 text stands for, or undefined when it is none. Total; text is bounded, since it costs its square. */
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
