import type { Blockchain, ChainFamily, Environment } from './blockchains.ts'

export type TokenSymbol = 'USDC' | 'EURC'

export type NativeToken = { id: string; name: string; symbol: string; decimals: number }

export type NetworkToken = {
  id: string
  symbol: TokenSymbol
  name: string
  currency: 'USD' | 'EUR'
  decimals: number
  /** EIP-55 checksummed. */
  address: `0x${string}`
  /** Set where the issuer has no such token: it exists on local chains only, a configured node does not have it. */
  localOnly?: true
}

/** One blockchain as data. Adding a network is adding one such file and listing it in `networks/index.ts`. */
export type Network = {
  blockchain: Blockchain
  family: ChainFamily
  environment: Environment
  chainId: number
  name: string
  nativeToken: NativeToken
  tokens: readonly NetworkToken[]
  /** Blocks of this chain on top, the including one counted, before COMPLETE. Local chains have their own depth. */
  confirmations: number
  /** Blocks on top before a block is final, for nodes without a `finalized` block; `confirmations` when left out. */
  finalityDepth?: number
  /** The chain code of the business-account API, the same for the test and the main network. */
  businessChain: string
  eip1559: boolean
  /**
   * Transactions of one address that are signed and in no block yet, at most: what every pool of this network keeps for an
   * account. One that is full refuses or forgets what comes beyond.
   */
  inFlightMax: number
  /** What one address may have under way, as the hosted service limits it; counted only when the operator asks for it. */
  pendingMax?: number
  /** The least priority fee per gas that nodes take, in wei, where it is more than next to nothing. */
  priorityFloorAtomic?: bigint
  /** How the fee for posting data to the parent chain is charged, where there is one. */
  l1Fee?: 'op' | 'arb'
  /** Typical time between blocks of the public network. */
  blockTimeMs: number
}

/** Namespace of every token id that the API's own clients do not already know; see `tokenIdName`. */
export const tokenIdNamespace = 'b7f3a6d2-5c1e-4f8a-9d40-6e1b0c2a7e55'

/** The name that is hashed, as UUID v5 under `tokenIdNamespace`, into the id of a token nobody hard-codes. */
export function tokenIdName(blockchain: Blockchain, symbol: string): string {
  return `${blockchain}:${symbol}`
}

/** EURC on local chains where the issuer has none: "EC" and 978, the ISO 4217 number of the euro. */
export const localEurcAddress = '0xEc00000000000000000000000000000000000978'
