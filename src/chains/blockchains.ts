import type { ChainFamily, Environment } from './network.ts'
import { type NetworkName, networks } from './networks/index.ts'
import { withoutNode } from './networks/without-node.ts'

export type Blockchain = NetworkName | (typeof withoutNode)[number]['blockchain']

type BlockchainFacts = {
  blockchain: Blockchain
  family: ChainFamily
  environment: Environment
  chainId?: number
  domain?: number
  businessAccountOnly?: true
  virtual?: true
}

/** The facts of every blockchain, with or without a node: see `NetworkOf`. */
export const blockchainFacts: readonly BlockchainFacts[] = [...networks, ...withoutNode]

/** Every blockchain that this program has a name for. One that is not connected still validates. */
export const blockchains: readonly Blockchain[] = blockchainFacts.map(({ blockchain }) => blockchain)

/** Every blockchain that wallets may be on: the business account alone reaches the others. */
export const walletBlockchains: readonly Blockchain[] = blockchainFacts
  .filter(({ businessAccountOnly }) => !businessAccountOnly)
  .map(({ blockchain }) => blockchain)

const byName: ReadonlyMap<unknown, BlockchainFacts> = new Map(
  blockchainFacts.map((each) => [each.blockchain, each]),
)

/** True for exactly the names in `blockchains`; they are case-sensitive. */
export const isBlockchain = (value: unknown): value is Blockchain => byName.has(value)

export const environmentOf = (blockchain: Blockchain): Environment => byName.get(blockchain)!.environment

/** The family whose rules (addresses, signatures, fees) the blockchain follows. */
export const familyOf = (blockchain: Blockchain): ChainFamily => byName.get(blockchain)!.family

/** EVM and EVM-TESTNET stand for any EVM chain: their wallets only sign, and hold nothing on a chain. */
export const isVirtual = (blockchain: Blockchain): boolean => byName.get(blockchain)!.virtual === true
