import type { Hex } from '#lib/hex'
import type { Address } from '../chain.ts'

const group = 8
/** Groups of four bytes: those of the zeros before an address in a word, and those of the address. */
const paddingGroups = 3
const addressGroups = 5
const zeros = '0'.repeat(group)

/**
 * The addresses that stand in words of 32 bytes anywhere in the data, each once: arguments begin behind a selector of four
 * bytes, and calls within calls at a multiple of them. Numbers below 2^96 are no addresses.
 */
export function addressesIn(data: Hex): Address[] {
  const digits = data.slice(2).toLowerCase()
  const found = new Set<Address>()
  let padding = 0
  for (let at = 0; at + addressGroups * group <= digits.length; at += group) {
    if (padding >= paddingGroups && isAddress(digits, at))
      found.add(`0x${digits.slice(at, at + addressGroups * group)}`)
    padding = digits.startsWith(zeros, at) ? padding + 1 : 0
  }
  return [...found]
}

/** Whether neither the first eight bytes nor the last eight are zero: then it is a number, or the end of one. */
const isAddress = (digits: string, at: number) =>
  !digits.startsWith(zeros + zeros, at) && !digits.startsWith(zeros + zeros, at + (addressGroups - 2) * group)

/** The same, and an address that the data begins with: hooks are packed so for the contracts that run them. */
export function addressesInHook(hook: Hex): Address[] {
  const first = hook.slice(2, 2 + addressGroups * group).toLowerCase()
  const target: Address[] =
    first.length === addressGroups * group && isAddress(first, 0) ? [`0x${first}`] : []
  return [...new Set([...target, ...addressesIn(hook)])]
}
