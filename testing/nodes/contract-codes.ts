/** Runtime code of small contracts, put at an address with `anvil_setCode`. */
import { concatHex, type Hex, numberToHex, pad, size } from 'viem'

/** Number of bytes of the instructions before the data that they revert with. */
const revertBytes = 11

/** Code that reverts each call with `data`. `offset`: where it begins in the code of the contract. */
export const revertsWith = (data: Hex, offset = 0): Hex =>
  concatHex([
    ...(['0x61', numberToHex(size(data), { size: 2 })] as const), // PUSH2 the size of the data
    ...(['0x80', '0x61', numberToHex(offset + revertBytes, { size: 2 })] as const), // DUP1 PUSH2 where they begin
    ...(['0x5f', '0x39', '0x5f', '0xfd'] as const), // PUSH0 CODECOPY PUSH0 REVERT
    data,
  ])

/** Code that answers each call with these words. */
export const returns = (...words: readonly (Hex | bigint)[]): Hex =>
  concatHex([
    ...words.flatMap((word, index): Hex[] => [
      '0x7f', // PUSH32 the word
      typeof word === 'bigint' ? numberToHex(word, { size: 32 }) : pad(word),
      ...(['0x60', numberToHex(32 * index, { size: 1 }), '0x52'] as const), // PUSH1 its place MSTORE
    ]),
    ...(['0x60', numberToHex(32 * words.length, { size: 1 }), '0x5f', '0xf3'] as const), // PUSH1 PUSH0 RETURN
  ])
