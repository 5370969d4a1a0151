import { type Blockchain, environmentOf, isVirtual } from './blockchains.ts'
import { networks } from './networks/index.ts'

/** Chain ids of EVM blockchains that this program has no further data for. */
const furtherIds: [Blockchain, number][] = [
  ['ARC', 5042],
  ['ARC-TESTNET', 5_042_002],
]

const chainIds = new Map<Blockchain, number>([
  ...networks.map(({ blockchain, chainId }): [Blockchain, number] => [blockchain, chainId]),
  ...furtherIds,
])

/** The blockchain that a transaction with this chain id is for, if a wallet on `blockchain` may sign it: its own, or any of
 * its environment for the virtual ones. */
export function signableChain(blockchain: Blockchain, chainId: number): Blockchain | undefined {
  const [found] = [...chainIds].find(([, id]) => id === chainId) ?? []
  if (!found || !isVirtual(blockchain)) return found === blockchain ? found : undefined
  return environmentOf(found) === environmentOf(blockchain) ? found : undefined
}
