import type { Static } from 'typebox'
import { invalid } from '#lib/errors'
import type { newBankAccountSchema } from './schema.ts'

type GivenAccount = Static<typeof newBankAccountSchema>

/** Numbers as people write them, in groups. */
const compact = (text: string) => text.replace(/[\s-]/g, '').toUpperCase()

/** The numbers of an account in one of its three forms, or the error that names what is missing or wrong. */
export function readNumbers(given: GivenAccount): Record<string, string> {
  const { accountNumber, routingNumber, iban, bankAddress } = given
  if (iban) {
    if (accountNumber || routingNumber)
      throw invalid({
        at: accountNumber ? 'accountNumber' : 'routingNumber',
        reason: 'must be absent beside iban: send one of the two forms',
        error: 'not_required',
      })
    requireBankFields(given, ['city'])
    return { iban: readIban(iban, bankAddress.country) }
  }
  if (!accountNumber) throw missing('accountNumber', 'or an iban')
  if (!routingNumber) throw missing('routingNumber', 'or an iban instead of both')
  const isUs = bankAddress.country === 'US'
  if (!isUs) requireBankFields(given, ['bankName', 'city'])
  return {
    accountNumber: readAccountNumber(accountNumber),
    routingNumber: isUs ? readAba(routingNumber) : readBic(routingNumber, bankAddress.country),
  }
}

const missing = (at: string, alternative: string) =>
  invalid({ at, reason: `is missing: send it, ${alternative}`, error: 'required' })

function requireBankFields({ bankAddress }: GivenAccount, names: readonly ('bankName' | 'city')[]): void {
  for (const name of names)
    if (!bankAddress[name])
      throw invalid({
        at: `bankAddress.${name}`,
        reason: `is missing: a bank in ${bankAddress.country} needs it`,
        error: 'required',
      })
}

function readAccountNumber(text: string): string {
  const number = compact(text)
  if (/^[A-Z0-9]{4,34}$/.test(number)) return number
  throw mismatch('accountNumber', 'must have 4 to 34 digits or letters')
}

/** Weights of the digits of an ABA routing number: the weighted sum of a valid one is divisible by ten. */
const abaWeights = [3, 7, 1, 3, 7, 1, 3, 7, 1]

function readAba(text: string): string {
  const number = compact(text)
  const sum = abaWeights.reduce((total, weight, index) => total + weight * Number(number[index]), 0)
  if (/^\d{9}$/.test(number) && sum > 0 && sum % 10 === 0) return number
  throw mismatch(
    'routingNumber',
    'must be an ABA routing number of nine digits with its check digit, such as 121000248',
  )
}

function readBic(text: string, country: string): string {
  const code = compact(text)
  if (/^[A-Z]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/.test(code) && code.slice(4, 6) === country) return code
  throw mismatch(
    'routingNumber',
    `must be the SWIFT code (BIC) of a bank in ${country}, of 8 or 11 characters`,
  )
}

/** An IBAN whose check digits are right (ISO 13616), of the country of its bank. */
function readIban(text: string, country: string): string {
  const iban = compact(text)
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban) || remainderOf(iban) !== 1n)
    throw mismatch('iban', 'must be an IBAN with its check digits, such as DE31100400480532013000')
  if (iban.slice(0, 2) !== country)
    throw mismatch('iban', `is of another country than bankAddress.country, which is ${country}`)
  return iban
}

const remainderOf = (iban: string): bigint =>
  BigInt([...`${iban.slice(4)}${iban.slice(0, 4)}`].map((letter) => Number.parseInt(letter, 36)).join('')) %
  97n

/** Without the value: answers and logs repeat no number of an account. */
const mismatch = (at: string, reason: string) => invalid({ at, reason, error: 'pattern_mismatch' })
