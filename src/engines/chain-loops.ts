import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import type { Loop } from '#runtime/loop'
import { hearNotices } from '#runtime/notices'

/**
 * Starts the loops of each chain, which every new transaction, disbursement and signed operation and every followed block
 * wakes. `stop` waits for work in progress.
 */
export function startChainLoops(
  ctx: EngineCtx,
  loopsOf: (chain: Chain) => readonly Loop[],
): { stop(): Promise<void> } {
  const loops = new Map(
    ctx.chains.list().map((chain) => [chain.network.blockchain as string, loopsOf(chain)]),
  )
  const unlisten = hearNotices(ctx, 'chain_work', (blockchain) => {
    for (const loop of loops.get(blockchain) ?? []) loop.wake()
  })
  return {
    stop: async () => {
      await unlisten()
      await Promise.all([...loops.values()].flat().map((loop) => loop.stop()))
    },
  }
}
