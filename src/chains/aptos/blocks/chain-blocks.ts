import type { Chain } from '../../chain.ts'
import type { BlockAt, ContentAgreement } from '../../facets/blocks.ts'
import type { Receipt } from '../../facets/effects.ts'
import type { ChainInput } from '../../family.ts'
import type { Network } from '../../networks/index.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import type { Nodes } from '../../nodes/nodes.ts'
import type { RestNode } from '../rest/node.ts'
import { readHeight } from '../rest/rules.ts'
import { type AptosBlock, readBlockAt } from './read-block.ts'
import { parentHashOf, readRef } from './read-ref.ts'

/** The version of the ledger after a block. Throws where the node has another block at its height. */
export type LastVersionOf = (node: RestNode, block: BlockAt) => Promise<bigint>

/** Interval of head polling of a local chain. */
const pollMs = 250

export async function readNewest(node: RestNode, network: Network) {
  const height = await readHeight(node, network)
  const ref = await readRef(node, height)
  if (!ref) throw new NodeUnreachable(`the node does not have its newest block ${height}`)
  const { number, hash, timeMs } = ref
  return { number, hash, parentHash: await parentHashOf(node, height), timeMs }
}

/** Blocks whose receipts and versions are kept: those read ahead of the one that is applied, and a few more. */
const recentMax = 64
/** More blocks than agreement takes on any network. */
const contentsMax = 5_000

/** Keeps the blocks that were read last, and the hashes of contents that this process read itself. */
function keptBlocks() {
  const recent = new Map<string, AptosBlock>()
  const contents = new Set<string>()
  const keep = (whole: AptosBlock) => {
    recent.delete(whole.block.hash)
    recent.set(whole.block.hash, whole)
    for (const oldest of recent.keys()) if (recent.size > recentMax) recent.delete(oldest)
    contents.add(whole.block.contentHash!)
    for (const oldest of contents) if (contents.size > contentsMax) contents.delete(oldest)
  }
  return { recent, contents, keep }
}

/** The blocks of a chain and their effects, which share what was read last. */
export function blocksThrough(nodes: Nodes<RestNode>, { network, local, finalityDepth }: ChainInput) {
  const { recent, contents, keep } = keptBlocks()
  const believed = <Answer>(reading: Promise<Answer>) =>
    reading.catch((error) => {
      if (error instanceof NodeUnreachable) nodes.doubt()
      throw error
    })
  const byNumber = async (number: number) => {
    const whole = await believed(nodes.read((node) => readBlockAt(node, network, number)))
    if (whole) keep(whole)
    return whole?.block
  }
  const contentOf =
    ({ number, hash }: BlockAt) =>
    async (node: RestNode) => {
      const whole = await readBlockAt(node, network, number)
      return whole?.block.hash === hash ? whole.block.contentHash! : 'has no such block'
    }
  const agreedContent = async (block: BlockAt, contentHash: string): Promise<ContentAgreement> =>
    nodes.agreeing === 1 && contents.has(contentHash)
      ? { verdict: 'agreed', said: [] }
      : nodes.agreedOn(contentHash, contentOf(block))
  const lastVersionOf: LastVersionOf = async (node, { number, hash }) => {
    const known = recent.get(hash)
    if (known) return known.lastVersion
    const ref = await readRef(node, number)
    if (ref?.hash === hash) return ref.lastVersion
    throw new NodeUnreachable(`the node has another block ${number} than ${hash}, or none`)
  }
  const blocks: Chain['blocks'] = {
    head: () => believed(nodes.read((node) => readNewest(node, network))),
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
    // What is committed is final: nodes have no tag for less.
    finalized: async () => 'no tag',
    agreeing: nodes.agreeing,
    agreedUpTo: nodes.agreedUpTo,
    agreedContent,
  }
  const wholeOf = async ({ number, hash }: BlockAt) => {
    if (!recent.has(hash)) await byNumber(number)
    return recent.get(hash)
  }
  const receiptsOf = async (at: BlockAt, txHashes: readonly string[]): Promise<Receipt[]> => {
    const whole = txHashes.length > 0 ? await wholeOf(at) : undefined
    return txHashes.map((txHash) => {
      const receipt = whole?.receipts.get(txHash)
      if (receipt) return receipt
      throw new NodeUnreachable(`block ${at.hash} is of no node, or does not have ${txHash}`)
    })
  }
  const effects: Chain['effects'] = {
    receiptsOf,
    explainRevert: async ({ block, txHash }) => (await wholeOf(block))?.failures.get(txHash),
  }
  return { blocks, effects, lastVersionOf }
}
