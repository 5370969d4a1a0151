import { parseAmount } from '#lib/amounts'
import type { ErrorName } from '#lib/error-kinds'
import { ApiError, invalid } from '#lib/errors'

/** The amount in base units, above zero, or the documented error; `notPositive` is the one for zero. */
export function readAmount(
  location: string,
  text: string | undefined,
  decimals: number,
  notPositive: ErrorName,
): bigint {
  if (!text) throw invalid(location, 'is missing: send it', undefined, 'invalidRequest', 'required')
  const amount = parseAmount(text, decimals)
  if (amount === 'format')
    throw invalid(location, 'must be a decimal number as a string, such as "12.50"', text)
  if (amount === 'decimals') throw digitsExceeded(location, decimals, text)
  if (amount === 'range')
    throw invalid(location, 'exceeds the largest token amount', text, 'invalidRequest', 'max_value')
  if (amount === 0n) throw invalid(location, 'must be above zero', text, notPositive, 'min_value')
  return amount
}

function digitsExceeded(location: string, decimals: number, text: string): ApiError {
  const message = `${location} has more than ${decimals} decimal places`
  return new ApiError('invalidRequest', `API parameter invalid. ${message}.`, [
    {
      error: 'number_format',
      message,
      location,
      invalidValue: text.slice(0, 200),
      constraints: { 'max-fractional-digits': decimals },
    },
  ])
}
