import { isAddress } from 'viem'
import type { Address } from '../chain.ts'

/**
 * Reads an address: all lower case, or mixed case with a valid EIP-55 checksum.
 * Returns it in lower case, or `undefined` for anything else. Never throws.
 */
export function parseEvmAddress(text: unknown): Address | undefined {
  if (typeof text !== 'string' || text.length !== 42 || !isAddress(text)) return undefined
  return text.toLowerCase() as Address
}
