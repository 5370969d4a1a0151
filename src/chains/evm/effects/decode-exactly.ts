import { type AbiParameter, decodeAbiParameters, encodeAbiParameters } from 'viem'
import type { Hex } from '#lib/hex'

/** The values of `data`, in lower case, or `undefined` unless encoding them again gives the same bytes: contracts refuse others. */
export function decodeExactly<const Inputs extends readonly AbiParameter[]>(inputs: Inputs, data: Hex) {
  try {
    if (inputs.length === 0) return data === '0x' ? decodeAbiParameters(inputs, '0x') : undefined
    const values = decodeAbiParameters(inputs, data)
    return encodeAbiParameters(inputs, values as never) === data ? values : undefined
  } catch {
    return undefined
  }
}
