import { suggest } from '#lib/suggest'
import type { Environment, NetworkOf } from '../network.ts'
import { aptos } from './aptos.ts'
import { aptosTestnet } from './aptos-testnet.ts'
import { arb } from './arb.ts'
import { arbSepolia } from './arb-sepolia.ts'
import { avax } from './avax.ts'
import { avaxFuji } from './avax-fuji.ts'
import { base } from './base.ts'
import { baseSepolia } from './base-sepolia.ts'
import { eth } from './eth.ts'
import { ethSepolia } from './eth-sepolia.ts'
import { linea } from './linea.ts'
import { lineaSepolia } from './linea-sepolia.ts'
import { matic } from './matic.ts'
import { maticAmoy } from './matic-amoy.ts'
import { monad } from './monad.ts'
import { monadTestnet } from './monad-testnet.ts'
import { op } from './op.ts'
import { opSepolia } from './op-sepolia.ts'
import { sol } from './sol.ts'
import { solDevnet } from './sol-devnet.ts'
import { uni } from './uni.ts'
import { uniSepolia } from './uni-sepolia.ts'
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
] as const

export type NetworkName = (typeof all)[number]['blockchain']
export type Network = NetworkOf<NetworkName>

/** Every network this program has data for, test and main. */
export const networks: readonly Network[] = all

const byBlockchain: ReadonlyMap<string, Network> = new Map(
  networks.map((network) => [network.blockchain, network]),
)

/** The data of a blockchain, or undefined for names that validate but are not built (NEAR, ARC, ...). */
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
    `there is no network named "${blockchain}" in BEZANT_NETWORKS: known are ${known.join(', ')}${suggest(blockchain, known)}`,
  )
}

/** The network a business-account chain code ("POLY") names in an environment (TEST: MATIC-AMOY). */
export function networkOfBusinessChain(chain: string, environment: Environment): Network | undefined {
  return networks.find((network) => network.businessChain === chain && network.environment === environment)
}
