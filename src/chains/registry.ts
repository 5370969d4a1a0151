import type { Chain, Chains } from './chain.ts'
import { createEvmChain } from './evm/index.ts'
import type { Network } from './network.ts'

export type Node = { network: Network; rpcUrl: string; local: boolean }

/** Local chains are final at once: one block, and a deeper rewind is healed rather than refused. */
const localFinalityDepth = 1

/** Connects to the given nodes; nothing is asked of them yet. */
export function createChains(nodes: readonly Node[]): Chains {
  const byName = new Map<string, Chain>(nodes.map((node) => [node.network.blockchain, connect(node)]))
  return { list: () => [...byName.values()], find: (blockchain) => byName.get(blockchain) }
}

function connect({ network: named, rpcUrl, local }: Node): Chain {
  const finalityDepth = local ? localFinalityDepth : named.confirmations
  const network = local ? named : { ...named, tokens: named.tokens.filter((token) => !token.localOnly) }
  if (network.family === 'evm') return createEvmChain({ network, rpcUrl, finalityDepth, local })
  throw new Error(`${network.blockchain}: the chain family ${network.family} cannot be connected to yet`)
}
