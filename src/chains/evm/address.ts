import { keccak_256 } from '@noble/hashes/sha3'
import type { Address } from '../addresses/types.ts'

/**
 * Reads an address: all digits in one case, or in mixed case with a valid EIP-55 checksum.
 * Returns it in lower case, or `undefined` for anything else. Never throws.
 */
export function parseEvmAddress(text: unknown): Address | undefined {
  if (typeof text !== 'string' || text.length !== 42) return undefined
  if (!/^0x([0-9a-f]{40}|[0-9A-F]{40})$/.test(text) && !hasChecksum(text)) return undefined
  return text.toLowerCase() as Address
}

/**
 * Whether the case of the letters is the checksum of EIP-55: upper where the digit of the hash in the same place is 8 or more. The
 * library of EVM does this too, and takes longer to load than a command takes to print its help.
 */
function hasChecksum(text: string): boolean {
  const [, digits] = /^0x([0-9a-fA-F]{40})$/.exec(text) ?? []
  if (digits === undefined) return false
  const hash = Buffer.from(keccak_256(digits.toLowerCase())).toString('hex')
  return [...digits].every((digit, place) => {
    const isUpper = Number.parseInt(hash[place]!, 16) >= 8
    return digit === (isUpper ? digit.toUpperCase() : digit.toLowerCase())
  })
}

/** Addresses below this are the zero address and those reserved by the chain: coins sent there are lost. */
const reservedEnd = 0x200n

export const isReservedEvmAddress = (address: string): boolean => BigInt(address) < reservedEnd

export const evmAddressForm = '0x and 40 hexadecimal digits, with a valid checksum if in mixed case'
