import { isAddress } from 'viem'
import type { Address } from '../addresses/types.ts'

/**
 * Reads an address: all digits in one case, or in mixed case with a valid EIP-55 checksum.
 * Returns it in lower case, or `undefined` for anything else. Never throws.
 */
export function parseEvmAddress(text: unknown): Address | undefined {
  if (typeof text !== 'string' || text.length !== 42) return undefined
  if (!isAddress(text) && !/^0x[0-9A-F]{40}$/.test(text)) return undefined
  return text.toLowerCase() as Address
}

/** Addresses below this are the zero address and those reserved by the chain: coins sent there are lost. */
const reservedEnd = 0x200n

export const isReservedEvmAddress = (address: string): boolean => BigInt(address) < reservedEnd

export const evmAddressForm = '0x and 40 hexadecimal digits, with a valid checksum if in mixed case'
