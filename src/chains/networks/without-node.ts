import type { ChainFamily, Environment } from '../network.ts'

/** A blockchain that wallets may be on, though this program connects to no node of it. */
type BlockchainWithoutNode = {
  blockchain: string
  family: ChainFamily
  environment: Environment
  /** Set for names that stand for any chain of their family: their wallets only sign, and hold nothing on a chain. */
  virtual?: true
}

export const withoutNode = [
  { blockchain: 'NEAR', family: 'near', environment: 'LIVE' },
  { blockchain: 'NEAR-TESTNET', family: 'near', environment: 'TEST' },
  { blockchain: 'EVM', family: 'evm', environment: 'LIVE', virtual: true },
  { blockchain: 'EVM-TESTNET', family: 'evm', environment: 'TEST', virtual: true },
] as const satisfies readonly BlockchainWithoutNode[]
