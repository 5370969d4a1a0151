import type { Chain } from '#chains/chain'
import type { BlockRef } from '#chains/facets/blocks'
import { keptFor } from '#runtime/scheduling/memoize'
import { resultWithin } from '#runtime/scheduling/time-limit'

/** Lifetime of a cached head and timeout of a node: clients may send any number of requests. */
const keptMs = 1_000
export const headWaitMs = 2_000

const kept = keptFor<Chain, BlockRef | undefined>(keptMs)

/** The newest block of a chain, about a second old; undefined while no node answers. */
export const headOf = ({ shared: chain }: Chain): Promise<BlockRef | undefined> =>
  kept(chain, () => resultWithin(headWaitMs, chain.blocks.head()))
