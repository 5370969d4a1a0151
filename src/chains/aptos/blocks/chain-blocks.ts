import type { BlockAt } from '../../facets/blocks.ts'
import type { ChainInput } from '../../family.ts'
import type { Network } from '../../networks/index.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import { blocksWithOutcomes } from '../../nodes/kept-blocks.ts'
import type { Nodes } from '../../nodes/nodes.ts'
import type { RestNode } from '../rest/node.ts'
import { readHeight } from '../rest/rules.ts'
import { readBlockAt } from './read-block.ts'
import { parentHashOf, readRef } from './read-ref.ts'

/** The version of the ledger after a block. Throws where the node has another block at its height. */
export type LastVersionOf = (node: RestNode, block: BlockAt) => Promise<bigint>

export async function readNewest(node: RestNode, network: Network) {
  const height = await readHeight(node, network)
  const ref = await readRef(node, height)
  if (!ref) throw new NodeUnreachable(`the node does not have its newest block ${height}`)
  const { number, hash, timeMs } = ref
  return { number, hash, parentHash: await parentHashOf(node, height), timeMs }
}

/** The blocks of a chain and their effects, which share what was read last. What is committed is final. */
export function blocksThrough(nodes: Nodes<RestNode>, input: ChainInput) {
  const { network } = input
  const readers = {
    newest: (node: RestNode) => readNewest(node, network),
    at: (node: RestNode, height: number) => readBlockAt(node, network, height),
    hashAt: async (node: RestNode, height: number) => (await readRef(node, height))?.hash,
  }
  const { blocks, effects, recent } = blocksWithOutcomes(nodes, readers, input)
  const lastVersionOf: LastVersionOf = async (node, { number, hash }) => {
    const known = recent.get(hash)
    if (known) return known.lastVersion
    const ref = await readRef(node, number)
    if (ref?.hash === hash) return ref.lastVersion
    throw new NodeUnreachable(`the node has another block ${number} than ${hash}, or none`)
  }
  return { blocks, effects, lastVersionOf }
}
