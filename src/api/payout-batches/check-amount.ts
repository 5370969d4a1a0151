import { readMoney } from '#api/business/disbursement'
import { ApiError } from '#lib/errors'
import { type PayoutColumn, shown } from './read-file.ts'

/** A mistake in a cell, and how to correct it. */
export type CellProblem = { column: PayoutColumn | 'row'; message: string }

/** An amount, or what is wrong with its cells. Forms that spreadsheets write are named, and never guessed at. */
export function checkAmount(
  amount: string,
  currency: string,
): { amount: bigint; currency: string } | CellProblem[] {
  const form = amount === '' ? undefined : spreadsheetForm(amount)
  if (form) return [{ column: 'amount', message: `${shown(amount)} ${form}` }]
  try {
    return readMoney({ amount, currency: currency.toUpperCase() }, 'payoutAmountNotPositive')
  } catch (error) {
    return [cellProblem(error)]
  }
}

/** Problems of fields of a request, as those of the column that the field is read from. */
export function cellProblem(error: unknown): CellProblem {
  if (!(error instanceof ApiError)) throw error
  const [field] = error.fields
  const column = field && columns[field.location]
  return { column: column ?? 'row', message: field ? field.message.replace(/^\S+ /, '') : error.message }
}

const columns: Readonly<Record<string, PayoutColumn>> = {
  'amount.amount': 'amount',
  'amount.currency': 'currency',
  recipient: 'recipient',
  address: 'address',
  chain: 'chain',
}

function spreadsheetForm(text: string): string | undefined {
  const isPlain = /^-?\d+(\.\d+)?$/.test(text)
  if (isPlain) return undefined
  if (/^[=+@]/.test(text)) return 'is a formula, or begins like one: write the number alone'
  if (/^[\p{Sc}]|[\p{Sc}]$|^[a-z]{3}\b|\b[a-z]{3}$/iu.test(text))
    return 'names a currency: write the number alone, and the currency in its own column'
  if (/^\d+(\.\d+)?e[+-]?\d+$/i.test(text))
    return 'has an exponent, with which digits may be lost: format the cell as a number'
  if (/^-?\d{1,3}([ \u00a0\u202f'’.,]\d{3})+([.,]\d+)?$/.test(text))
    return 'has separators of thousands, or a comma for decimals: write digits and, before the decimals, a point, such as 1234.50'
  if (/^-?\d+,\d+$/.test(text)) return `has a comma before the decimals: write ${text.replace(',', '.')}`
  return undefined
}
