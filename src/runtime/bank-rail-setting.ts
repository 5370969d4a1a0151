import { parseListSetting } from './list-setting.ts'
import { parseTarget } from './outbound/target.ts'

/** The connection to a bank that the operator runs. */
export type BankRailSetting = {
  /** The address that orders are posted to. */
  url: string
  /** Signs orders, and the results that come back. */
  secret: string
  /** The chain whose coins are redeemed and deposited, and the address that redeemed ones go to. */
  blockchain: string
  address: string
  instructions: { beneficiary: Record<string, string>; beneficiaryBank: Record<string, string> }
}

const name = 'BEZANT_BANK_RAIL'
const example =
  '[{"url":"https://bank.example","secret":"SECRET","blockchain":"BASE","address":"0xADDRESS","beneficiary":{"name":"…"},"beneficiaryBank":{"accountNumber":"…"}}]'
const secretLengthMin = 32

const beneficiaryNames = ['name', 'address1', 'address2']
const bankNames = [
  'name',
  'swiftCode',
  'routingNumber',
  'accountNumber',
  'currency',
  'address',
  'city',
  'postalCode',
  'country',
]

/** Reads `BEZANT_BANK_RAIL`, a list of one. Messages contain no secret. */
export function parseBankRail(text: string | undefined): BankRailSetting | undefined {
  const [item] = parseListSetting(text, { name, example, list: 'a list of one' }, 1)
  if (item === undefined) return undefined
  const { url, secret, blockchain, address, beneficiary, beneficiaryBank, ...rest } = (item ?? {}) as Record<
    string,
    unknown
  >
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw wrong(`there is no setting "${unknown}"`)
  if (typeof url !== 'string' || !isTarget(url))
    throw wrong('url must be an address such as https://bank.example')
  if (typeof secret !== 'string' || secret.length < secretLengthMin)
    throw wrong(`secret must have at least ${secretLengthMin} characters`)
  if (typeof blockchain !== 'string' || typeof address !== 'string')
    throw wrong('blockchain and address must be texts')
  const instructions = {
    beneficiary: textsOf('beneficiary', beneficiary, beneficiaryNames),
    beneficiaryBank: textsOf('beneficiaryBank', beneficiaryBank, bankNames),
  }
  return { url, secret, blockchain, address, instructions }
}

const wrong = (what: string) => new Error(`${name}: ${what}, as in ${example}`)

function isTarget(text: string): boolean {
  try {
    return parseTarget(text).hash === ''
  } catch {
    return false
  }
}

function textsOf(member: string, value: unknown, names: readonly string[]): Record<string, string> {
  const texts = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (texts.length === 0 || texts.some(([key, text]) => !names.includes(key) || typeof text !== 'string'))
    throw wrong(`${member} must have texts of ${names.join(', ')}`)
  return Object.fromEntries(texts)
}
