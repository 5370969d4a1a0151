/** Money is `bigint` base units internally and a decimal string on the wire; these functions never round. */

const decimalPattern = /^(0|[1-9][0-9]{0,77})(\.[0-9]{1,77})?$/
const maxAtomic = 2n ** 256n - 1n

type AmountProblem = 'format' | 'decimals' | 'range'

/** Parses `text` (for example "12.50") into base units, or returns the problem. Total: never throws. */
export function parseAmount(text: unknown, decimals: number): bigint | AmountProblem {
  if (typeof text !== 'string' || text.length > 160 || !decimalPattern.test(text)) return 'format'
  const [whole = '0', fraction = ''] = text.split('.')
  if (fraction.length > decimals) return 'decimals'
  const atomic = BigInt(whole + fraction.padEnd(decimals, '0'))
  return atomic > maxAtomic ? 'range' : atomic
}

/** Whether `text` is a plain decimal string of any scale. */
export const isDecimal = (text: unknown): text is string =>
  typeof text === 'string' && decimalPattern.test(text)

/** Formats base units as a decimal string with at least `minDecimals` digits after the point. */
export function formatAmount(atomic: bigint, decimals: number, minDecimals = 0): string {
  const sign = atomic < 0n ? '-' : ''
  const digits = (atomic < 0n ? -atomic : atomic).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits
    .slice(digits.length - decimals)
    .replace(/0+$/, '')
    .padEnd(minDecimals, '0')
  return fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`
}

export const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other)

export const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other)
