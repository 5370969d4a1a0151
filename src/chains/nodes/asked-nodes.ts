import type { ReadAsker } from '../chain.ts'
import type { NodeEndpoints } from '../facets/endpoints.ts'
import type { ChainInput } from '../family.ts'
import { type Nodes, openNodes } from './nodes.ts'
import type { NodeClient, NodeRules } from './rules.ts'
import { createTurns, type InTurn } from './turns.ts'

/** Reads from the nodes of a chain; `execution` where a node executes what a request chooses. */
export type NodeReader<Node> = <Result>(
  act: (node: Node) => Promise<Result>,
  kind?: Parameters<InTurn>[0],
) => Promise<Result>

type AskedNodes<Node> = {
  /** The nodes that engines ask. */
  nodes: Nodes<Node>
  endpoints: NodeEndpoints
  read: NodeReader<Node>
  /** Reads of one asker: by connections that no engine uses, at its turn. */
  readFor(asker: ReadAsker): NodeReader<Node>
}

/** Opens the endpoints of a chain twice: for engines, and for the requests of askers, who take turns. */
export function openAskedNodes<Node extends NodeClient>(
  input: ChainInput,
  { openNode, rules }: { openNode(url: string): Node; rules: NodeRules<Node> },
): AskedNodes<Node> {
  const { network, rpcUrl, rpcUrls = [rpcUrl], local } = input
  const open = () =>
    openNodes({ ...input, nodes: rpcUrls.map(openNode), rules, blockTimeMs: network.blockTimeMs })
  const [nodes, ofAskers] = [open(), open()]
  const turns = createTurns({ blockchain: network.blockchain, local, endpoints: rpcUrls.length })
  return {
    nodes,
    endpoints: {
      hosts: rpcUrls.map((url) => new URL(url).host),
      health: nodes.health,
      inspect: nodes.inspect,
      close: async () => {
        for (const each of [nodes, ofAskers]) each.close()
      },
    },
    read: (act) => nodes.read(act),
    readFor: (asker) => {
      const inTurn = turns.of(asker)
      return (act, kind = 'lookup') => inTurn(kind, () => ofAskers.read(act))
    },
  }
}
