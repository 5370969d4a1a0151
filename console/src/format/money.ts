/** A decimal string in parts: `−`, `1,250`, `.000000`. */
export type AmountParts = { isNegative: boolean; whole: string; fraction: string }

const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

/** The decimals that a column of a stablecoin shows, so that its points stand below each other. */
const shownDecimals: Record<string, number> = { USDC: 6, EURC: 6, USD: 6, EUR: 6 }

/** Splits a decimal string without ever making a float of it. Anything else is shown as it is. */
export function splitAmount(text: string, unit = ''): AmountParts {
  const [, sign, whole, fraction = ''] = /^([-−]?)(\d+)(?:\.(\d+))?$/.exec(text.trim()) ?? []
  if (whole === undefined) return { isNegative: false, whole: text, fraction: '' }
  const decimals = shownDecimals[unit]
  const padded = decimals === undefined ? fraction.replace(/0+$/, '') : fraction.padEnd(decimals, '0')
  return { isNegative: sign !== '', whole: grouped.format(BigInt(whole)), fraction: padded && `.${padded}` }
}

/** The sum of decimal strings, as a decimal string. */
export function sumAmounts(texts: readonly string[]): string {
  const decimals = Math.max(0, ...texts.map((text) => text.split('.')[1]?.length ?? 0))
  return decimalOf(
    texts.reduce((sum, text) => sum + unitsOf(text, decimals), 0n),
    decimals,
  )
}

/** Base units as a decimal string. */
export function decimalOf(units: bigint, decimals: number): string {
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  return `${units < 0n ? '-' : ''}${whole}${decimals > 0 ? `.${digits.slice(-decimals)}` : ''}`
}

/** The share of a total as a number between 0 and 1, for the length of a bar alone. */
export const shareOf = (text: string, total: string): number =>
  Number(total) > 0 ? Number(text) / Number(total) : 0

function unitsOf(text: string, decimals: number): bigint {
  const [, sign, whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  const units = BigInt(whole + fraction.padEnd(decimals, '0'))
  return sign ? -units : units
}
