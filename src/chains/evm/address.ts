import { isAddress } from 'viem'
import type { Address } from '../chain.ts'

/**
 * Reads an address as people write it: all lower case, or mixed case with a right EIP-55 checksum.
 * Lower case comes back, `undefined` for anything else. Total: never throws.
 */
export function parseEvmAddress(text: unknown): Address | undefined {
  if (typeof text !== 'string' || text.length !== 42 || !isAddress(text)) return undefined
  return text.toLowerCase() as Address
}
