import { decodeAbiParameters } from 'viem'
import type { Hex } from '#lib/hex'
import { type AbiType, arrayOf } from './types.ts'

/**
 * Values of returned data as JSON: integers as decimal text, addresses in lower case, arrays and tuples as lists.
 * `undefined` where the data does not fit the types. The data is untrusted.
 */
export function decodeValues(types: readonly AbiType[], data: Hex): unknown[] | undefined {
  const unnamed = types.map(withoutNames)
  try {
    const values = decodeAbiParameters(unnamed, data) as readonly unknown[]
    return unnamed.map((type, index) => jsonOf(type, values[index]))
  } catch {
    return undefined
  }
}

/** The library decodes a tuple with names as an object, which has no order. */
const withoutNames = ({ type, components }: AbiType): AbiType => ({
  type,
  ...(components && { components: components.map(withoutNames) }),
})

function jsonOf({ type, components }: AbiType, value: unknown): unknown {
  const array = arrayOf(type)
  if (array) {
    const item = { type: array.item, ...(components && { components }) }
    return (value as unknown[]).map((each) => jsonOf(item, each))
  }
  if (components) return components.map((each, index) => jsonOf(each, (value as unknown[])[index]))
  if (type === 'address') return (value as string).toLowerCase()
  return typeof value === 'bigint' || typeof value === 'number' ? value.toString() : value
}
