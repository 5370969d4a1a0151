import type { Chain } from '#chains/chain'
import type { Block } from '#chains/facets/blocks'

/** Maximum number of blocks that are kept: as many as are read at once, and those that a reorg put off. */
const keptMax = 32

export type ReadAhead = {
  /** The block at a height, as the node has it now. */
  read(number: number): Promise<Block | undefined>
  /** Drops the block that was applied, and those below it. */
  applied(number: number): void
  /** Drops all: an endpoint lied, or another process applies the blocks. */
  forget(): void
}

/**
 * Keeps the blocks of a chain that were read and could not be applied yet, after a failure or in a reorg. Their contents are the
 * largest answers of a node: they are not read again while it names the same block.
 */
export function openReadAhead({ blocks }: Pick<Chain, 'blocks'>): ReadAhead {
  const kept = new Map<number, Block>()
  return {
    read: async (number) => {
      const known = kept.get(number)
      if (known && (await blocks.hashAt(number)) === known.hash) return known
      const block = await blocks.byNumber(number)
      kept.delete(number)
      if (block) kept.set(number, block)
      for (const oldest of kept.keys()) if (kept.size > keptMax) kept.delete(oldest)
      return block
    },
    applied: (number) => {
      for (const each of kept.keys()) if (each <= number) kept.delete(each)
    },
    forget: () => kept.clear(),
  }
}
