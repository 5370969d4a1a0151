import { encodeAbiParameters, toFunctionSelector } from 'viem'
import type { Hex } from '#lib/hex'
import { ValueProblem } from '../../invalid-value.ts'
import { callDataBytesMax } from '../payments/build.ts'
import { parseSignature } from './signature.ts'
import { type AbiType, arrayOf } from './types.ts'
import { type AtomicValue, readAtomic } from './values.ts'

type Value = AtomicValue | Value[]

/** The rest of the `bytesMax` bytes that the data may have: it bounds the work as well. */
type Room = { bytes: number; bytesMax: number }

const wordBytes = 32

/**
 * The data of a call to the function with this signature. Values come as JSON; arrays and tuples are lists.
 * Throws ValueProblem at `abiFunctionSignature` or at the value, as `abiParameters[0][1]`.
 */
export function encodeCall(signature: string, values: readonly unknown[]): Hex {
  const { name, parameters } = parseSignature(signature)
  const room = { bytes: callDataBytesMax - 4, bytesMax: callDataBytesMax }
  const read = readValues(parameters, values, 'abiParameters', room)
  return `${selectorOf(name, parameters)}${encodeAbiParameters(parameters, read).slice(2)}` as Hex
}

/** The canonical signature, `name(type,…)`. */
export const functionSignature = (name: string, parameters: readonly AbiType[]): string =>
  `${name}(${parameters.map(canonicalType).join(',')})`

export const selectorOf = (name: string, parameters: readonly AbiType[]): Hex =>
  toFunctionSelector(functionSignature(name, parameters))

/** The type as signatures write it: a tuple as the types of its components. */
export function canonicalType({ type, components }: AbiType): string {
  return components ? type.replace('tuple', `(${components.map(canonicalType).join(',')})`) : type
}

/** Reads JSON values as these types. Throws ValueProblem at the value, as `location[0][1]`. */
export function readValues(
  types: readonly AbiType[],
  values: unknown,
  location: string,
  room: Room,
): Value[] {
  if (!Array.isArray(values)) throw new ValueProblem(location, `must be a list of ${types.length} values`)
  if (values.length !== types.length)
    throw new ValueProblem(
      location,
      `has ${values.length} values, but the signature has ${types.length} here`,
    )
  return types.map((type, index) => readValue(type, values[index], `${location}[${index}]`, room))
}

function readValue({ type, components }: AbiType, value: unknown, location: string, room: Room): Value {
  take(room, wordBytes, location)
  const array = arrayOf(type)
  if (array) {
    const item = { type: array.item, ...(components && { components }) }
    return readItems(value, array.length, location).map((each, index) =>
      readValue(item, each, `${location}[${index}]`, room),
    )
  }
  if (components) return readValues(components, value, location, room)
  if (typeof value === 'string' && (type === 'string' || type === 'bytes'))
    take(room, type === 'bytes' ? value.length / 2 : Buffer.byteLength(value), location)
  return readAtomic(type, value, location)
}

function readItems(value: unknown, length: number | undefined, location: string): unknown[] {
  if (!Array.isArray(value)) throw new ValueProblem(location, 'must be a list')
  if (length === undefined || value.length === length) return value
  throw new ValueProblem(location, `must have exactly ${length} items, it has ${value.length}`)
}

function take(room: Room, bytes: number, location: string): void {
  room.bytes -= bytes
  if (room.bytes < 0)
    throw new ValueProblem(location, `makes the data larger than ${room.bytesMax} bytes, which no node takes`)
}
