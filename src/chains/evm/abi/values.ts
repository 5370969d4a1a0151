import { isHex } from '#lib/hex'
import { ValueProblem } from '../../invalid-value.ts'
import { evmAddressForm, parseEvmAddress } from '../address.ts'

/** The values that the encoder accepts for a type without parts. */
export type AtomicValue = string | bigint | boolean

/** Reads a JSON value as an atomic type. Throws ValueProblem at `location`, and nothing else. */
export function readAtomic(type: string, value: unknown, location: string): AtomicValue {
  if (type === 'bool') return readBoolean(value, location)
  if (type === 'address') return readAddress(value, location)
  if (type === 'string') {
    if (typeof value === 'string') return value
    throw new ValueProblem(location, 'must be text')
  }
  if (type.startsWith('bytes')) return readBytes(type, value, location)
  return readInteger(type, value, location)
}

function readBoolean(value: unknown, location: string): boolean {
  if (value === true || value === 'true') return true
  if (value === false || value === 'false') return false
  throw new ValueProblem(location, 'must be true or false')
}

function readAddress(value: unknown, location: string): string {
  const address = parseEvmAddress(value)
  if (address) return address
  throw new ValueProblem(location, `must be an address: ${evmAddressForm}`)
}

function readBytes(type: string, value: unknown, location: string): string {
  const size = type === 'bytes' ? undefined : Number(type.slice(5))
  if (isHex(value, size)) return value.toLowerCase()
  const isOdd = typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value) && value.length % 2 === 1
  if (isOdd) throw new ValueProblem(location, 'has an odd number of hexadecimal digits')
  const length = size === undefined ? 'an even number of' : size * 2
  throw new ValueProblem(location, `must be 0x and ${length} hexadecimal digits, for ${type}`)
}

function readInteger(type: string, value: unknown, location: string): bigint {
  const number = integerOf(value, location)
  const bits = BigInt(type.replace(/\D/g, ''))
  const signed = type.startsWith('int')
  const [min, max] = signed ? [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n] : [0n, (1n << bits) - 1n]
  if (number >= min && number <= max) return number
  throw new ValueProblem(location, `is outside the range of ${type}`)
}

const integerPattern = /^(0|-?[1-9]\d{0,77}|0x[0-9a-fA-F]{1,64})$/

function integerOf(value: unknown, location: string): bigint {
  if (typeof value === 'string' && integerPattern.test(value)) return BigInt(value)
  if (typeof value !== 'number')
    throw new ValueProblem(location, 'must be a whole number, as text or as a number')
  if (!Number.isInteger(value)) throw new ValueProblem(location, 'must be a whole number')
  if (!Number.isSafeInteger(value))
    throw new ValueProblem(location, 'is too large for a JSON number: send it as text')
  return BigInt(value)
}
