import { suggest } from '#lib/suggest'
import { givenNetworks } from '#runtime/config'
import type { Environment, NetworkOf } from '../network.ts'
import { aptos } from './aptos.ts'
import { aptosTestnet } from './aptos-testnet.ts'
import { arb } from './arb.ts'
import { arbSepolia } from './arb-sepolia.ts'
import { arc } from './arc.ts'
import { arcTestnet } from './arc-testnet.ts'
import { avax } from './avax.ts'
import { avaxFuji } from './avax-fuji.ts'
import { base } from './base.ts'
import { baseSepolia } from './base-sepolia.ts'
import { eth } from './eth.ts'
import { ethSepolia } from './eth-sepolia.ts'
import { evmNetwork } from './evm-network.ts'
import { furtherEvm } from './further-evm.ts'
import { linea } from './linea.ts'
import { lineaSepolia } from './linea-sepolia.ts'
import { matic } from './matic.ts'
import { maticAmoy } from './matic-amoy.ts'
import { monad } from './monad.ts'
import { monadTestnet } from './monad-testnet.ts'
import { op } from './op.ts'
import { opSepolia } from './op-sepolia.ts'
import { readOwnNetworks } from './own-networks.ts'
import { sol } from './sol.ts'
import { solDevnet } from './sol-devnet.ts'
import { uni } from './uni.ts'
import { uniSepolia } from './uni-sepolia.ts'
import { withoutNode } from './without-node.ts'
import { zks } from './zks.ts'
import { zksSepolia } from './zks-sepolia.ts'

const all = [
  eth,
  ethSepolia,
  avax,
  avaxFuji,
  matic,
  maticAmoy,
  arb,
  arbSepolia,
  uni,
  uniSepolia,
  base,
  baseSepolia,
  op,
  opSepolia,
  monad,
  monadTestnet,
  linea,
  lineaSepolia,
  zks,
  zksSepolia,
  aptos,
  aptosTestnet,
  sol,
  solDevnet,
  arc,
  arcTestnet,
] as const

/** The name of a network of the operator, which the compiler cannot know. */
type OwnName = string & { readonly isOwn: unique symbol }

export type NetworkName =
  | (typeof all)[number]['blockchain']
  | (typeof furtherEvm)[number]['blockchain']
  | OwnName
export type Network = NetworkOf<NetworkName>

const shipped: readonly Network[] = [...all, ...furtherEvm.map((row) => evmNetwork<NetworkName>(row))]

const own = readOwnNetworks(givenNetworks(), [...shipped, ...withoutNode])

/** The networks of the operator: those of the setting BEZANT_OWN_NETWORKS. */
export const ownNetworks = own.networks as readonly Network[]

/** Throws where that setting is wrong: commands that need networks begin with it. */
export function requireOwnNetworks(): void {
  if (own.problem !== undefined) throw new Error(own.problem)
}

/** Every network this program has data for, test and main. */
export const networks: readonly Network[] = [...shipped, ...ownNetworks]

const byBlockchain: ReadonlyMap<string, Network> = new Map(
  networks.map((network) => [network.blockchain, network]),
)

/** The data of a blockchain, or undefined for names that validate but are not built (NEAR, EVM, ...). */
export function networkOf(blockchain: string): Network | undefined {
  return byBlockchain.get(blockchain)
}

/** The network whose JSON-RPC endpoint has this path. */
export const networkOfRpcPath = (path: string): Network | undefined =>
  networks.find((network) => network.rpcPath === path)

/** The network that has this domain in an environment. */
export const networkOfDomain = (environment: Environment, domain: number): Network | undefined =>
  networks.find((network) => network.environment === environment && network.domain === domain)

/** The data of a blockchain that the operator names. */
export function requireNetwork(blockchain: string): Network {
  const network = networkOf(blockchain)
  if (network) return network
  const known = networks.map((each) => each.blockchain)
  throw new Error(
    `there is no network named "${blockchain}" in BEZANT_NETWORKS: known are ${known.join(', ')}, and BEZANT_OWN_NETWORKS adds others${suggest(blockchain, known)}`,
  )
}

/** The network a business-account chain code ("POLY") names in an environment (TEST: MATIC-AMOY). */
export function networkOfBusinessChain(chain: string, environment: Environment): Network | undefined {
  return networks.find((network) => network.businessChain === chain && network.environment === environment)
}
