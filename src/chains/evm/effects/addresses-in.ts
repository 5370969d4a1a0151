import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'

const group = 8
/** Groups of four bytes: those of the zeros before an address in a word, and those of the address. */
const paddingGroups = 3
const addressGroups = 5
const addressDigits = addressGroups * group
const zeros = '0'.repeat(group)
const padding = zeros.repeat(paddingGroups)

/**
 * The addresses that stand in words of 32 bytes anywhere in the data, each once: arguments begin behind a selector of four
 * bytes, and calls within calls at a multiple of them. An argument of bytes has its zeros behind the address; bridges take
 * recipients so, or as texts. Numbers below 2^96 are no addresses.
 */
export function addressesIn(data: Hex): Address[] {
  const digits = data.slice(2).toLowerCase()
  const found = new Set<Address>()
  let zeroGroups = 0
  for (let at = 0; at + addressDigits <= digits.length; at += group) {
    const end = at + addressDigits
    if ((zeroGroups >= paddingGroups || isPaddedBehind(digits, end)) && isAddress(digits, at))
      found.add(`0x${digits.slice(at, end)}`)
    zeroGroups = digits.startsWith(zeros, at) ? zeroGroups + 1 : 0
  }
  for (const address of addressesInText(Buffer.from(digits, 'hex').toString('latin1'))) found.add(address)
  return [...found]
}

/** Whether zeros fill the word behind an address. */
const isPaddedBehind = (digits: string, end: number) => digits.startsWith(padding, end)

const pushAddress = '73'

/** The addresses that code would put on its stack (PUSH20): constants of a constructor, which may pay them when it runs. */
export function addressesInCode(code: Hex): Address[] {
  const digits = code.slice(2).toLowerCase()
  const found = new Set<Address>()
  for (let at = digits.indexOf(pushAddress); at >= 0; at = digits.indexOf(pushAddress, at + 1)) {
    const isByte = at % 2 === 0 && at + 2 + addressDigits <= digits.length
    if (isByte && isAddress(digits, at + 2)) found.add(`0x${digits.slice(at + 2, at + 2 + addressDigits)}`)
  }
  return [...found]
}

/** The addresses that a text writes out. */
export const addressesInText = (text: string): Address[] =>
  [...text.matchAll(/0x([0-9a-f]{40})(?![0-9a-f])/gi)].map(
    ([, digits]) => `0x${digits!.toLowerCase()}` as Address,
  )

/** Whether neither the first eight bytes nor the last eight are zero: then it is a number, or the end of one. */
const isAddress = (digits: string, at: number) =>
  !digits.startsWith(zeros + zeros, at) && !digits.startsWith(zeros + zeros, at + (addressGroups - 2) * group)

/** The same, and an address that the data begins with: hooks are packed so for the contracts that run them. */
export function addressesInHook(hook: Hex): Address[] {
  const first = hook.slice(2, 2 + addressDigits).toLowerCase()
  const target: Address[] = first.length === addressDigits && isAddress(first, 0) ? [`0x${first}`] : []
  return [...new Set([...target, ...addressesIn(hook)])]
}
