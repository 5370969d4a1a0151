import { isAptosAddress } from './aptos/address.ts'
import { type Blockchain, familyOf } from './blockchains.ts'
import { parseEvmAddress } from './evm/address.ts'
import { isNearAddress } from './near/address.ts'
import { isSolanaAddress } from './solana/address.ts'

/** The address as it is kept, or `undefined` when it is none on that blockchain. Works for chains that are not started. */
export function parseAddress(blockchain: Blockchain, text: string): string | undefined {
  switch (familyOf(blockchain)) {
    case 'evm':
      return parseEvmAddress(text)
    case 'solana':
      return isSolanaAddress(text) ? text : undefined
    case 'aptos':
      return isAptosAddress(text) ? text.toLowerCase() : undefined
    case 'near':
      return isNearAddress(text) ? text : undefined
  }
}
