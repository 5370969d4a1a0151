import { canonicalAddress } from './addresses/canonical.ts'
import type { Chain, Chains, ReadAsker } from './chain.ts'
import type { CrosschainAddresses } from './crosschain/crosschain.ts'
import type { Inspection } from './facets/endpoints.ts'
import { families } from './families.ts'
import type { ChainInput } from './family.ts'
import type { Network } from './networks/index.ts'

export type Node = Omit<ChainInput, 'confirmations' | 'finalityDepth' | 'inspection' | 'crosschain'> & {
  /** The contracts of cross-chain messages and unified balances; a local chain has them at their known addresses. */
  crosschain?: { readonly [name in keyof CrosschainAddresses]: string } | undefined
}

/** Local chains are complete and final after one block; a deeper reorg is followed, not refused. */
const localDepth = 1

/** Creates the chains of the given nodes, without a request yet. Local nodes need no inspection. */
export function createChains(nodes: readonly Node[], inspection?: Inspection): Chains {
  const byName = new Map<string, Chain>(
    nodes.map((node) => [node.network.blockchain, connect(node, node.local ? undefined : inspection)]),
  )
  const chains: Chains = {
    list: () => [...byName.values()],
    find: (blockchain) => byName.get(blockchain),
    onBehalfOf: (asker) => onBehalfOf(chains, asker),
    get shared() {
      return chains
    },
  }
  return chains
}

/** The chains for one asker, each made when it is asked for. */
function onBehalfOf(shared: Chains, asker: ReadAsker): Chains {
  const made = new Map<string, Chain>()
  const find = (blockchain: string) => {
    const known = made.get(blockchain) ?? shared.find(blockchain)?.onBehalfOf(asker)
    if (known) made.set(blockchain, known)
    return known
  }
  return {
    list: () => shared.list().map(({ network }) => find(network.blockchain)!),
    find,
    onBehalfOf: (other) => shared.onBehalfOf(other),
    shared,
  }
}

/** The network without tokens that exist only on local chains. */
const forConfigured = (network: Network): Network => ({
  ...network,
  tokens: network.tokens.filter((token) => !token.localOnly),
})

const canonicalAddresses = (named: NonNullable<Node['crosschain']>) =>
  Object.fromEntries(
    Object.entries(named).map(([name, address]) => [name, canonicalAddress(address)]),
  ) as CrosschainAddresses

function connect({ network: named, local, ...node }: Node, inspection: Inspection | undefined): Chain {
  const confirmations = local ? localDepth : named.confirmations
  const finalityDepth = local ? localDepth : Math.max(confirmations, named.finalityDepth ?? 0)
  const network = local ? named : forConfigured(named)
  const depths = { confirmations, finalityDepth }
  const crosschain = node.crosschain && canonicalAddresses(node.crosschain)
  const family = families[network.family]
  if (!family?.connect)
    throw new Error(`${network.blockchain}: the chain family ${network.family} cannot be connected to yet`)
  const ofLocal = local ? family.localInFlightMax : undefined
  const inFlightMax = node.inFlightMax ?? ofLocal ?? named.inFlightMax
  return family.connect({ ...node, ...depths, network, local, inFlightMax, inspection, crosschain })
}
