import { canonicalHead } from '#engines/indexer/index'
import type { TestChain } from '#testing/platform/chain'
import type { Harness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

/** Mines blocks for `mineUntil`, and waits until they are followed, so that a slow machine does not fall behind by thousands. */
export const followedMining = ({ database }: Harness, chain: TestChain, blocks = 20) => ({
  mine: async () => {
    await chain.mine(blocks)
    const height = await chain.height()
    const isFollowed = async () => ((await canonicalHead(database, chain.blockchain))?.number ?? 0) >= height
    await until(isFollowed, `${chain.blockchain} is followed to its head`)
  },
})
