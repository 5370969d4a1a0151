const digits = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
/** Remainder of a valid checksum for each encoding (BIP-173 and BIP-350). */
const remainders = new Map([
  [1, 'bech32'],
  [0x2bc830a3, 'bech32m'],
] as const)
const charactersMax = 90
const checksumLength = 6

export type Bech32 = { prefix: string; encoding: 'bech32' | 'bech32m'; values: number[] }

/** Returns the prefix and the 5-bit values of bech32 text, without the checksum; undefined for other text. Total. */
export function decodeBech32(text: string): Bech32 | undefined {
  const lower = text.toLowerCase()
  if (text.length > charactersMax || !/^[\x21-\x7e]+$/.test(text)) return undefined
  if (text !== lower && text !== text.toUpperCase()) return undefined
  const at = lower.lastIndexOf('1')
  if (at < 1 || lower.length - at <= checksumLength) return undefined
  const prefix = lower.slice(0, at)
  const values = [...lower.slice(at + 1)].map((digit) => digits.indexOf(digit))
  if (values.includes(-1)) return undefined
  const encoding = remainders.get(polymod([...expanded(prefix), ...values]) as 1)
  return encoding && { prefix, encoding, values: values.slice(0, -checksumLength) }
}

const expanded = (prefix: string): number[] => {
  const codes = [...prefix].map((character) => character.charCodeAt(0))
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)]
}

function polymod(values: readonly number[]): number {
  let sum = 1
  for (const value of values) {
    const top = sum >>> 25
    sum = ((sum & 0x1ffffff) << 5) ^ value
    generators.forEach((generator, bit) => {
      if ((top >>> bit) & 1) sum ^= generator
    })
  }
  return sum
}
