import { parseAddress } from '#chains/address'
import type { Blockchain } from '#chains/blockchains'
import { type ApiError, invalid } from '#lib/errors'
import type { TemplateParameter } from './templates.ts'

/** `templateParameters` of a request, as the client sent it. */
export type TemplateValues = Readonly<Record<string, unknown>>

const basisPoints = 10_000
const lengthMax = { text: 256, uri: 4_096 }
const addressesMax = 100
const zeroAddress = `0x${'0'.repeat(40)}`

/** The arguments of the constructor, as JSON values in its order. Throws for the first parameter that is wrong. */
export function readTemplateParameters(
  parameters: readonly TemplateParameter[],
  blockchain: Blockchain,
  values: TemplateValues,
): unknown[] {
  requireKnownNames(parameters, values)
  const read = parameters.map((parameter) => readParameter(parameter, blockchain, values))
  requireFeeRecipient(values)
  return read
}

function requireKnownNames(parameters: readonly TemplateParameter[], values: TemplateValues): void {
  const known = parameters.flatMap(({ name, alias }) => [name, ...(alias ? [alias] : [])])
  const unknown = Object.keys(values).find((name) => !known.includes(name))
  if (unknown === undefined) return
  const reason = `is not a parameter of this template, which has ${known.join(', ')}`
  throw wrong(unknown, reason, values[unknown])
}

function requireFeeRecipient({ platformFeeRecipient, platformFeePercent }: TemplateValues): void {
  if (platformFeeRecipient === undefined && (platformFeePercent ?? 0) !== 0)
    throw missing('platformFeeRecipient', 'is missing: a platformFeePercent above 0 needs it')
}

function readParameter(parameter: TemplateParameter, blockchain: Blockchain, values: TemplateValues) {
  const { name, kind, isRequired } = parameter
  const { location, value } = givenValue(parameter, values)
  if (value === undefined) {
    if (isRequired) throw missing(name, 'is missing: this template requires it')
    return defaults[kind]
  }
  if (kind === 'text' || kind === 'uri') return readText(location, value, isRequired ? 1 : 0, lengthMax[kind])
  if (kind === 'fraction') return readFraction(location, value)
  if (kind === 'address') return readAddress(location, blockchain, value)
  if (!Array.isArray(value)) throw wrong(location, 'must be a list of addresses', value)
  if (value.length > addressesMax) throw wrong(location, `must have at most ${addressesMax} addresses`, value)
  return value.map((item, index) => readAddress(`${location}[${index}]`, blockchain, item))
}

const defaults = { text: '', uri: '', address: zeroAddress, addresses: [], fraction: 0 }

/** The value under the spelling that the request uses; both at once would leave open which one counts. */
function givenValue({ name, alias }: TemplateParameter, values: TemplateValues) {
  if (alias === undefined || values[alias] === undefined) return { location: name, value: values[name] }
  if (values[name] !== undefined) throw wrong(alias, `cannot be combined with ${name}`, values[alias])
  return { location: alias, value: values[alias] }
}

function readText(location: string, value: unknown, min: number, max: number): string {
  if (typeof value !== 'string') throw wrong(location, 'must be text', value)
  if (value.length >= min && value.length <= max) return value
  throw wrong(location, `must have ${min} to ${max} characters`, value)
}

function readFraction(location: string, value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1))
    throw wrong(location, 'must be a number from 0 to 1, a fraction: 0.1 is 10 %', value)
  const rounded = Math.round(value * basisPoints)
  if (rounded / basisPoints === value) return rounded
  throw wrong(location, 'must have at most 4 decimal places: 0.0001 is the smallest share', value)
}

function readAddress(location: string, blockchain: Blockchain, value: unknown): string {
  const address = typeof value === 'string' ? parseAddress(blockchain, value) : undefined
  if (!address) throw wrong(location, `must be an address of ${blockchain}`, value)
  if (address === zeroAddress) throw wrong(location, 'must not be the zero address', value)
  return address
}

const wrong = (name: string, reason: string, value: unknown): ApiError =>
  invalid({ at: `templateParameters.${name}`, reason, value, kind: 'templateParameterInvalid' })

const missing = (name: string, reason: string): ApiError =>
  invalid({ at: `templateParameters.${name}`, reason, kind: 'templateParameterMissing', error: 'required' })
