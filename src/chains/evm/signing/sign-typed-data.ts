import { hashTypedData } from 'viem'
import { bytesOf } from '#lib/hex'
import { ValueProblem } from '../../invalid-value.ts'
import { arrayOf, isAtomic } from '../abi/types.ts'
import { type AtomicValue, readAtomic } from '../abi/values.ts'
import { type Field, readTypes, requireObject, type StructTypes } from './typed-types.ts'

type TypedDataValue = AtomicValue | TypedDataValue[] | { [name: string]: TypedDataValue }

/** Typed data as hashed: whole numbers are bigint, addresses in lower case, the domain's type among the types. */
type TypedData = {
  types: Record<string, readonly Field[]>
  domain: Record<string, TypedDataValue>
  primaryType: string
  message: Record<string, TypedDataValue>
  /** The 32 bytes to sign. */
  digest: Buffer
}

const valuesMax = 2_000
const depthMax = 24

/** State of a read: it bounds the work. */
type ReadState = { types: StructTypes; left: number }

/**
 * Reads typed data (EIP-712) from parsed JSON. Strict: refuses fields that are missing, unknown or not of their type, since
 * they would not be signed. Numbers may be strings, also in hexadecimal. Throws ValueProblem, and nothing else.
 */
export function readTypedData(value: unknown): TypedData {
  const given = requireObject(value, 'data')
  const shownDomain = requireObject(given['domain'], 'data.domain')
  const types = readTypes(given['types'], shownDomain)
  const { primaryType } = given
  if (typeof primaryType !== 'string' || primaryType === 'EIP712Domain' || !types.has(primaryType))
    throw new ValueProblem('data.primaryType', 'must be one of the types, and not the domain')
  const reading = { types, left: valuesMax }
  const domain = readStruct(reading, 'EIP712Domain', shownDomain, 'data.domain', 0)
  const message = readStruct(reading, primaryType, given['message'], 'data.message', 0)
  const read = { types: Object.fromEntries(types), domain, primaryType, message }
  return { ...read, digest: bytesOf(hashTypedData(read as never)) }
}

function readStruct(
  reading: ReadState,
  type: string,
  value: unknown,
  location: string,
  depth: number,
): Record<string, TypedDataValue> {
  const object = requireObject(value, location)
  if (depth > depthMax) throw new ValueProblem(location, `nests deeper than ${depthMax} levels`)
  const fields = reading.types.get(type)!
  const extra = Object.keys(object).find((name) => !fields.some((field) => field.name === name))
  if (extra !== undefined)
    throw new ValueProblem(
      `${location}.${extra.slice(0, 100)}`,
      `is not a field of ${type}: it would not be signed`,
    )
  return Object.fromEntries(
    fields.map(({ name, type: fieldType }) => {
      const at = `${location}.${name}`
      if (!Object.hasOwn(object, name)) throw new ValueProblem(at, 'is missing')
      return [name, readValue(reading, fieldType, object[name], at, depth + 1)]
    }),
  )
}

function readValue(
  reading: ReadState,
  type: string,
  value: unknown,
  location: string,
  depth: number,
): TypedDataValue {
  reading.left -= 1
  if (reading.left < 0) throw new ValueProblem(location, `is beyond the ${valuesMax} values that are taken`)
  const array = arrayOf(type)
  if (array) {
    if (!Array.isArray(value)) throw new ValueProblem(location, 'must be a list')
    if (array.length !== undefined && value.length !== array.length)
      throw new ValueProblem(location, `must have exactly ${array.length} items, it has ${value.length}`)
    return value.map((item, index) => readValue(reading, array.item, item, `${location}[${index}]`, depth))
  }
  if (isAtomic(type)) return readAtomic(type, value, location)
  return readStruct(reading, type, value, location, depth)
}
