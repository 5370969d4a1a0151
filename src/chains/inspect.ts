import { inspectEvmEndpoint } from './evm/inspect.ts'
import type { Network } from './network.ts'
import { networkOf } from './networks/index.ts'
import { forConfigured } from './registry.ts'

type Configured = {
  blockchain: string
  rpcUrl: string
  rpcUrls?: readonly string[] | undefined
  agree?: number | undefined
  local: boolean
}

/** An endpoint that is not of the network it is configured for, with what gave it away. */
export type RefusedEndpoint = {
  blockchain: string
  /** The host alone: the rest of an address may be a key. */
  endpoint: string
  reason: string
  token?: string
  address?: string
}

/**
 * The nodes without the endpoints that belong to another network: money would be looked for, and sent, in the wrong place. An
 * endpoint that does not answer is kept, since it may only be away. Local chains are our own and are not asked.
 */
export async function inspectNodes<Node extends Configured>(
  nodes: readonly Node[],
): Promise<{ kept: Node[]; refused: RefusedEndpoint[] }> {
  const inspected = await Promise.all(nodes.map(inspectNode))
  return {
    kept: inspected.flatMap(({ node }) => node ?? []),
    refused: inspected.flatMap(({ refused }) => refused),
  }
}

async function inspectNode<Node extends Configured>(
  node: Node,
): Promise<{ node: Node | undefined; refused: RefusedEndpoint[] }> {
  const network = networkOf(node.blockchain)
  if (node.local || network?.family !== 'evm') return { node, refused: [] }
  const urls = node.rpcUrls ?? [node.rpcUrl]
  const reasons = await Promise.all(urls.map((url) => refusalOf(forConfigured(network), url)))
  const refused = reasons.filter((reason) => reason !== undefined)
  if (refused.length === 0) return { node, refused }
  const rpcUrls = urls.filter((_, index) => reasons[index] === undefined)
  const [rpcUrl] = rpcUrls
  return { node: rpcUrl === undefined ? undefined : { ...node, rpcUrl, rpcUrls }, refused }
}

async function refusalOf(network: Network, url: string): Promise<RefusedEndpoint | undefined> {
  const mismatch = await inspectEvmEndpoint(network, url).catch(() => undefined)
  if (!mismatch) return undefined
  const { blockchain, chainId } = network
  const of = { blockchain, endpoint: new URL(url).host }
  if ('chainId' in mismatch)
    return {
      ...of,
      reason: `it is a node of chain ${mismatch.chainId}, and ${blockchain} is chain ${chainId}`,
    }
  const { symbol, address } = mismatch.token
  return { ...of, reason: `it has no contract where ${symbol} of ${blockchain} is`, token: symbol, address }
}
