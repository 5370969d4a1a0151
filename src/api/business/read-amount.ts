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
  if (!text) throw invalid({ at: location, reason: 'is missing: send it', error: 'required' })
  const amount = parseAmount(text, decimals)
  if (amount === 'format')
    throw invalid({
      at: location,
      reason: 'must be a decimal number as a string, such as "12.50"',
      value: text,
    })
  if (amount === 'decimals') throw digitsExceeded(location, decimals, text)
  if (amount === 'range')
    throw invalid({
      at: location,
      reason: 'exceeds the largest token amount',
      value: text,
      error: 'max_value',
    })
  if (amount === 0n)
    throw invalid({
      at: location,
      reason: 'must be above zero',
      value: text,
      kind: notPositive,
      error: 'min_value',
    })
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
