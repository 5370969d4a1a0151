import { encodeAbiParameters } from 'viem'
import { type Hex, isHex } from '#lib/hex'
import { ValueProblem } from '../../invalid-value.ts'
import { readValues } from './encode.ts'
import type { AbiType } from './types.ts'

/** Maximum bytes of the data that creates a contract (EIP-3860). */
const creationBytesMax = 49_152

/** The data that creates a contract. Throws ValueProblem at the value, as `constructorParameters[0]`. */
export function encodeCreation(bytecode: Hex, types: readonly AbiType[], values: readonly unknown[]): Hex {
  const room = { bytes: creationBytesMax - (bytecode.length / 2 - 1), bytesMax: creationBytesMax }
  const read = readValues(types, values, 'constructorParameters', room)
  return `${bytecode}${encodeAbiParameters(types, read).slice(2)}` as Hex
}

/** Reads the bytecode of a request. Throws ValueProblem at `bytecode`. */
export function readBytecode(bytecode: string): Hex {
  const refuse = (reason: string) => new ValueProblem('bytecode', reason)
  const unlinked = bytecode.indexOf('__')
  if (unlinked >= 0)
    throw refuse(
      `has a placeholder of a library at character ${unlinked}: link it with the address of the library`,
    )
  if (!isHex(bytecode)) throw refuse('must be 0x and an even number of hexadecimal digits')
  const bytes = bytecode.length / 2 - 1
  if (bytes > creationBytesMax)
    throw refuse(`has ${bytes} bytes, and blockchains take at most ${creationBytesMax} with the parameters`)
  return bytecode.toLowerCase() as Hex
}
