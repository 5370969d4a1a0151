import type { Chain, Chains, Inspection } from './chain.ts'
import { createEvmChain } from './evm/index.ts'
import type { Network } from './network.ts'

export type Node = {
  network: Network
  rpcUrl: string
  /** All endpoints when there are several, `rpcUrl` the first of them. */
  rpcUrls?: readonly string[] | undefined
  /** How many of them must name the same block before something is concluded from it that cannot be undone. */
  agree?: number | undefined
  local: boolean
  /** In place of what the network says, for nodes whose limits are known. */
  inFlightMax?: number | undefined
  /** How long an answer may take. */
  timeoutMs?: number | undefined
  /** How many calls an endpoint takes in one request; learnt when left out. */
  batchMax?: number | undefined
}

/** Local chains are complete and final at once: one block, and a deeper rewind is healed rather than refused. */
const localDepth = 1
/** A local node takes all that a backlog has. */
const localInFlightMax = 4_000

/** Connects to the given nodes; nothing is asked of them yet. Local ones are our own and need no inspection. */
export function createChains(nodes: readonly Node[], inspection?: Inspection): Chains {
  const byName = new Map<string, Chain>(
    nodes.map((node) => [node.network.blockchain, connect(node, node.local ? undefined : inspection)]),
  )
  return { list: () => [...byName.values()], find: (blockchain) => byName.get(blockchain) }
}

/** The network as it is outside of a sandbox. */
const forConfigured = (network: Network): Network => ({
  ...network,
  tokens: network.tokens.filter((token) => !token.localOnly),
})

function connect({ network: named, local, ...node }: Node, inspection: Inspection | undefined): Chain {
  const completeDepth = local ? localDepth : named.confirmations
  const finalityDepth = local ? localDepth : Math.max(completeDepth, named.finalityDepth ?? 0)
  const network = local ? named : forConfigured(named)
  const inFlightMax = node.inFlightMax ?? (local ? localInFlightMax : named.inFlightMax)
  const depths = { completeDepth, finalityDepth }
  if (network.family === 'evm')
    return createEvmChain({ ...node, ...depths, network, local, inFlightMax, inspection })
  throw new Error(`${network.blockchain}: the chain family ${network.family} cannot be connected to yet`)
}
