import { type Blockchain, blockchains, familyOf, isVirtual } from './blockchains.ts'
import type { ChainFamily } from './network.ts'

/** The operations that this program offers on a blockchain, once it is connected. */
type Capabilities = {
  /** The family of the keys of its accounts; `undefined` while custody derives none. */
  keys: 'evm' | undefined
  /** Signs messages, typed data and transactions that the caller sends. */
  sign: boolean
  /** Shares the address of a wallet on another blockchain. */
  derive: boolean
  /** Has smart contract accounts. */
  smartAccounts: boolean
  /** Runs contracts that can be deployed, imported and queried. */
  contracts: boolean
  /** The faucet of a sandbox pays on it. */
  faucet: boolean
  /** The business account receives, holds and pays coins on it. */
  businessAccount: boolean
}

const nothing: Capabilities = {
  keys: undefined,
  sign: false,
  derive: false,
  smartAccounts: false,
  contracts: false,
  faucet: false,
  businessAccount: false,
}

const ofFamily: Record<ChainFamily, Capabilities> = {
  evm: {
    keys: 'evm',
    sign: true,
    derive: true,
    smartAccounts: true,
    contracts: true,
    faucet: true,
    businessAccount: true,
  },
  solana: nothing,
  aptos: nothing,
  near: nothing,
}

/** Blockchains that stand for any chain of their family: their wallets only sign. */
const ofVirtual: Partial<Capabilities> = {
  smartAccounts: false,
  contracts: false,
  faucet: false,
  businessAccount: false,
}

const table = new Map<Blockchain, Capabilities>(
  blockchains.map((blockchain) => [
    blockchain,
    { ...ofFamily[familyOf(blockchain)], ...(isVirtual(blockchain) && ofVirtual) },
  ]),
)

export const capabilitiesOf = (blockchain: Blockchain): Capabilities => table.get(blockchain)!
