import type { Chain } from '../../chain.ts'
import type { ChainInput } from '../../family.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import { blocksWithOutcomes } from '../../nodes/kept-blocks.ts'
import type { Nodes } from '../../nodes/nodes.ts'
import { nodeFields } from '../../nodes/values.ts'
import type { BlockWithChanges } from '../payments/taken-back.ts'
import type { SolanaClient } from '../rpc/client.ts'
import { lamportsIn, slotIn } from '../rpc/values.ts'
import { readSolanaBlock } from './read-block.ts'
import { fewFields, followed, readNewestSlot, readSlotRef } from './slots.ts'

/** Nodes announce each slot, whose parent is confirmed about then. */
const newSlots = { method: 'slotSubscribe', params: [], notice: 'slotNotification' }

export async function readNewestBlock(node: SolanaClient) {
  const { height } = await readNewestSlot(node)
  const ref = await readSlotRef(node, height)
  if (!ref) throw new NodeUnreachable(`the node does not have its newest block ${height}`)
  const { slot: _, ...block } = ref
  return block
}

/** The newest final block of a node, which no fork takes back. */
async function readFinalized(node: SolanaClient) {
  const info = nodeFields(await node.call('getEpochInfo', [{ commitment: 'finalized' }], fewFields), 'epoch')
  const ref = await readSlotRef(node, slotIn(info['blockHeight'], 'block height'))
  if (!ref) throw new NodeUnreachable('the node does not have its newest final block')
  return { number: ref.number, hash: ref.hash }
}

/** The blocks of a chain and their effects, which share what was read last. */
export function solanaBlocksThrough(
  nodes: Nodes<SolanaClient>,
  input: ChainInput,
): Pick<Chain, 'blocks' | 'effects'> & { wholeOf: BlockWithChanges } {
  const readers = {
    newest: readNewestBlock,
    at: (node: SolanaClient, height: number) => readSolanaBlock(node, input.network, height),
    hashAt: async (node: SolanaClient, height: number) => (await readSlotRef(node, height))?.hash,
    subscription: newSlots,
  }
  const { blocks, effects, wholeOf } = blocksWithOutcomes(nodes, readers, input)
  const finalized = async () => {
    const found = await nodes.read(readFinalized)
    if (nodes.agreeing === 1) return found
    const { upTo } = await nodes.agreedUpTo(found.number, async () => found.hash)
    return upTo === found.number ? found : ('unknown' as const)
  }
  return {
    wholeOf,
    // A local chain can be rewound.
    blocks: input.local ? blocks : { ...blocks, finalized },
    effects: {
      ...effects,
      receiptsOf: async (at, signatures) =>
        Promise.all(
          (await effects.receiptsOf(at, signatures)).map(async (receipt) => ({
            ...receipt,
            gasUsed: await nodes.read((node) => computeUnitsOf(node, receipt.txHash)),
          })),
        ),
    },
  }
}

/** The compute units that a transaction used, which blocks without its instructions leave out; 0 where no node tells. */
async function computeUnitsOf(node: SolanaClient, signature: string): Promise<bigint> {
  const config = { commitment: followed, encoding: 'json', maxSupportedTransactionVersion: 1 }
  const answer = await node.call('getTransaction', [signature, config])
  if (answer === null) return 0n
  const { computeUnitsConsumed } = nodeFields(nodeFields(answer, 'transaction')['meta'], 'outcome')
  return computeUnitsConsumed === undefined ? 0n : lamportsIn(computeUnitsConsumed, 'compute units')
}
