import type { Chain } from '../../chain.ts'
import type { BlockAt, ContentAgreement } from '../../facets/blocks.ts'
import type { Receipt } from '../../facets/effects.ts'
import type { ChainInput } from '../../family.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import type { Nodes } from '../../nodes/nodes.ts'
import { nodeFields } from '../../nodes/values.ts'
import type { SolanaClient } from '../rpc/client.ts'
import { lamportsIn, slotIn } from '../rpc/values.ts'
import { readSolanaBlock, type SolanaBlock } from './read-block.ts'
import { fewFields, followed, readNewestSlot, readSlotRef } from './slots.ts'

/** Interval of head polling of a local chain. */
const pollMs = 250

async function readNewestBlock(node: SolanaClient) {
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

/** Blocks whose receipts are kept: those read ahead of the one that is applied, and a few more. */
const recentMax = 64
/** More blocks than agreement takes on any network. */
const contentsMax = 5_000

/** Keeps the blocks that were read last, and the hashes of contents that this process read itself. */
function keptBlocks() {
  const recent = new Map<string, SolanaBlock>()
  const contents = new Set<string>()
  const keep = (whole: SolanaBlock) => {
    recent.delete(whole.block.hash)
    recent.set(whole.block.hash, whole)
    for (const oldest of recent.keys()) if (recent.size > recentMax) recent.delete(oldest)
    contents.add(whole.block.contentHash!)
    for (const oldest of contents) if (contents.size > contentsMax) contents.delete(oldest)
  }
  return { recent, contents, keep }
}

/** The blocks of a chain and their effects, which share what was read last. */
export function solanaBlocksThrough(
  nodes: Nodes<SolanaClient>,
  { network, local, finalityDepth }: ChainInput,
): Pick<Chain, 'blocks' | 'effects'> {
  const { recent, contents, keep } = keptBlocks()
  const believed = <Answer>(reading: Promise<Answer>) =>
    reading.catch((error) => {
      if (error instanceof NodeUnreachable) nodes.doubt()
      throw error
    })
  const byNumber = async (number: number) => {
    const whole = await believed(nodes.read((node) => readSolanaBlock(node, network, number)))
    if (whole) keep(whole)
    return whole?.block
  }
  const contentOf =
    ({ number, hash }: BlockAt) =>
    async (node: SolanaClient) => {
      const whole = await readSolanaBlock(node, network, number)
      return whole?.block.hash === hash ? whole.block.contentHash! : 'has no such block'
    }
  const agreedContent = async (block: BlockAt, contentHash: string): Promise<ContentAgreement> =>
    nodes.agreeing === 1 && contents.has(contentHash)
      ? { verdict: 'agreed', said: [] }
      : nodes.agreedOn(contentHash, contentOf(block))
  const finalized = async () => {
    const found = await nodes.read(readFinalized)
    if (nodes.agreeing === 1) return found
    const { upTo } = await nodes.agreedUpTo(found.number, async () => found.hash)
    return upTo === found.number ? found : ('unknown' as const)
  }
  const wholeOf = async ({ number, hash }: BlockAt) => {
    if (!recent.has(hash)) await byNumber(number)
    return recent.get(hash)
  }
  return {
    blocks: {
      head: () => believed(nodes.read(readNewestBlock)),
      byNumber,
      byHash: async (hash, number = recent.get(hash)?.block.number) => {
        const block = number === undefined ? undefined : await byNumber(number)
        return block?.hash === hash ? block : undefined
      },
      watchHeads: (onHead) => {
        const timer = setInterval(onHead, local ? pollMs : Math.max(pollMs, network.blockTimeMs))
        return () => clearInterval(timer)
      },
      finalityDepth,
      finalized: local ? async () => 'no tag' : finalized,
      agreeing: nodes.agreeing,
      agreedUpTo: nodes.agreedUpTo,
      agreedContent,
    },
    effects: {
      receiptsOf: async (at, signatures) => {
        const whole = signatures.length > 0 ? await wholeOf(at) : undefined
        return Promise.all(
          signatures.map(async (signature): Promise<Receipt> => {
            const receipt = whole?.receipts.get(signature)
            if (!receipt)
              throw new NodeUnreachable(`block ${at.hash} is of no node, or does not have ${signature}`)
            return { ...receipt, gasUsed: await nodes.read((node) => computeUnitsOf(node, signature)) }
          }),
        )
      },
      explainRevert: async ({ block, txHash }) => (await wholeOf(block))?.failures.get(txHash),
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
