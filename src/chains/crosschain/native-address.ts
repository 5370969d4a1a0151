import type { Hex } from '#lib/hex'
import type { Address } from '../addresses/types.ts'
import { parseEvmAddress } from '../evm/address.ts'
import { MessageProblem } from './message-problem.ts'

const padding = '0'.repeat(24)

/** The word that stands for no account. */
export const zeroWord: Hex = `0x${'0'.repeat(64)}`

/** An EVM address as messages carry it: behind twelve zero bytes. Throws MessageProblem for anything else. */
export function wordOfAddress(address: string): Hex {
  const parsed = parseEvmAddress(address)
  if (parsed === undefined)
    throw new MessageProblem('not-an-address', `${address} is no address of an EVM chain`)
  return `0x${padding}${parsed.slice(2)}`
}

/** The EVM address in a word, in canonical form. Throws MessageProblem where the twelve bytes before it are not zero. */
export function addressOfWord(word: Hex): Address {
  if (!isAddressWord(word))
    throw new MessageProblem('not-an-address', `${word} is not the address of an account on an EVM chain`)
  return `0x${word.slice(-40).toLowerCase()}`
}

/** The address in a word, or the word where its form is that of another chain family. */
export const nativeForm = (word: Hex): string => (isAddressWord(word) ? addressOfWord(word) : word)

const addressPattern = new RegExp(`^0x${padding}[0-9a-fA-F]{40}$`)

/** Whether a word has the form of an EVM address. */
export const isAddressWord = (word: Hex): boolean => addressPattern.test(word)
