import type { Chain } from '../chain.ts'
import type { Block, BlockAt, BlockRef, ContentAgreement } from '../facets/blocks.ts'
import type { Receipt } from '../facets/effects.ts'
import type { ChainInput } from '../family.ts'
import { NodeUnreachable } from './errors.ts'
import { type HeadSubscription, watchHeads } from './heads.ts'
import type { Nodes } from './nodes.ts'
import { noSuchBlock } from './rules.ts'

/** A block with the outcomes of its transactions, of which it has all. */
export type BlockWithOutcomes = {
  block: Block
  receipts: ReadonlyMap<string, Receipt>
  /** The reasons of those that failed. */
  failures: ReadonlyMap<string, string>
}

/** The questions by which nodes of a family tell of blocks, and of their outcomes with them. */
type BlockReaders<Node, Whole> = {
  newest(node: Node): Promise<BlockRef>
  /** The block at a height; `undefined` where the node has none. */
  at(node: Node, height: number): Promise<Whole | undefined>
  hashAt(node: Node, height: number): Promise<string | undefined>
  /** Absent where nodes announce nothing. */
  subscription?: HeadSubscription
}

/** Interval of head polling of a local chain. */
const pollMs = 250
/** Blocks that are kept: those read ahead of the one that is applied, and a few more. */
const recentMax = 64
/** More blocks than agreement takes on any network. */
const contentsMax = 5_000

/** Keeps the blocks that were read last, and the hashes of contents that this process read itself. */
function keptBlocks<Whole extends BlockWithOutcomes>() {
  const recent = new Map<string, Whole>()
  const contents = new Set<string>()
  const keep = (whole: Whole) => {
    recent.delete(whole.block.hash)
    recent.set(whole.block.hash, whole)
    for (const oldest of recent.keys()) if (recent.size > recentMax) recent.delete(oldest)
    contents.add(whole.block.contentHash!)
    for (const oldest of contents) if (contents.size > contentsMax) contents.delete(oldest)
  }
  return { recent, contents, keep }
}

/** The blocks of a chain whose nodes tell outcomes with them, and their effects, which share what was read last. */
export function blocksWithOutcomes<Node, Whole extends BlockWithOutcomes>(
  nodes: Nodes<Node>,
  { newest, at, hashAt, subscription }: BlockReaders<Node, Whole>,
  { network, rpcUrl, local, finalityDepth }: ChainInput,
) {
  const { recent, contents, keep } = keptBlocks<Whole>()
  const believed = <Answer>(reading: Promise<Answer>) =>
    reading.catch((error) => {
      if (error instanceof NodeUnreachable) nodes.doubt()
      throw error
    })
  const byNumber = async (number: number) => {
    const whole = await believed(nodes.read((node) => at(node, number)))
    if (whole) keep(whole)
    return whole?.block
  }
  const contentOf =
    ({ number, hash }: BlockAt) =>
    async (node: Node) => {
      const whole = await at(node, number)
      return whole?.block.hash === hash ? whole.block.contentHash! : noSuchBlock
    }
  const agreedContent = async (block: BlockAt, contentHash: string): Promise<ContentAgreement> =>
    nodes.agreeing === 1 && contents.has(contentHash)
      ? { verdict: 'agreed', said: [] }
      : nodes.agreedOn(contentHash, contentOf(block))
  const wholeOf = async ({ number, hash }: BlockAt) => {
    if (!recent.has(hash)) await byNumber(number)
    return recent.get(hash)
  }
  const blocks: Chain['blocks'] = {
    head: () => believed(nodes.read(newest)),
    hashAt: (number) => believed(nodes.read((node) => hashAt(node, number))),
    byNumber,
    byHash: async (hash, number = recent.get(hash)?.block.number) => {
      const block = number === undefined ? undefined : await byNumber(number)
      return block?.hash === hash ? block : undefined
    },
    watchHeads: (onHead) => {
      const everyMs = local ? pollMs : Math.max(pollMs, network.blockTimeMs)
      if (subscription) return watchHeads(rpcUrl, everyMs, subscription, onHead)
      const timer = setInterval(onHead, everyMs)
      return () => clearInterval(timer)
    },
    finalityDepth,
    finalized: async () => 'no tag',
    agreeing: nodes.agreeing,
    agreedUpTo: nodes.agreedUpTo,
    agreedContent,
  }
  const effects: Chain['effects'] = {
    receiptsOf: async (block, txHashes) => {
      const whole = txHashes.length > 0 ? await wholeOf(block) : undefined
      return txHashes.map((txHash) => {
        const receipt = whole?.receipts.get(txHash)
        if (receipt) return receipt
        throw new NodeUnreachable(`block ${block.hash} is of no node, or does not have ${txHash}`)
      })
    },
    explainRevert: async ({ block, txHash }) => (await wholeOf(block))?.failures.get(txHash),
  }
  return { blocks, effects, recent, wholeOf }
}
