import type { Blocks } from '../../facets/blocks.ts'
import type { ChainInput } from '../../family.ts'
import { noSuchBlock } from '../../nodes/rules.ts'
import type { Endpoints } from '../rpc/endpoints.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { type BlockKey, readBlock, type WholeBlock } from './blocks.ts'

/** More blocks than finality takes on any network. */
const contentsMax = 5_000

type ComparedContents = {
  /** Reads a block, from one endpoint if it can tell all of it. */
  read(key: BlockKey): Promise<WholeBlock | undefined>
  agreed: Blocks['agreedContent']
}

/**
 * Compares the contents of blocks with other endpoints. An endpoint that told the same contents before is not asked to send them
 * again. When too few agree, all are asked the next time, since an endpoint may have been repaired.
 */
export function openContents(rpc: Endpoints, input: ChainInput): ComparedContents {
  const own = new Set<string>()
  /** The contents that endpoints told, by the hash of the block. */
  const told = new Map<string, Map<Rpc, string>>()
  const remember = (one: Rpc, { hash, contentHash }: WholeBlock['block']) => {
    if (contentHash) told.set(hash, new Map(told.get(hash)).set(one, contentHash))
    limit(told)
  }
  const contentFrom = async (one: Rpc, hash: string) => {
    const whole = await readBlock(one, input, { hash })
    if (whole) remember(one, whole.block)
    return whole?.block.contentHash ?? noSuchBlock
  }
  return {
    read: async (key) => {
      const { reader, answered } = rpc.forOneReader()
      const whole = await readBlock(reader, input, key)
      if (!whole?.block.contentHash) return whole
      own.add(whole.block.contentHash)
      limit(own)
      const [one, ...others] = answered()
      // Parts from several endpoints are what none of them said.
      if (rpc.agreeing > 1 && one && others.length === 0) remember(one, whole.block)
      return whole
    },
    // With a quorum of one, content that this process read itself needs no second read. Content that an earlier process
    // applied may come from another endpoint.
    agreed: async ({ hash }, contentHash) => {
      if (rpc.agreeing === 1 && own.has(contentHash)) return { verdict: 'agreed', said: [] }
      const agreement = await rpc.agreedOn(contentHash, async (one) =>
        told.get(hash)?.get(one) === contentHash ? contentHash : contentFrom(one, hash),
      )
      if (agreement.verdict !== 'agreed') told.delete(hash)
      return agreement
    },
  }
}

function limit(kept: Set<string> | Map<string, unknown>): void {
  for (const oldest of kept.keys()) if (kept.size > contentsMax) kept.delete(oldest)
}
