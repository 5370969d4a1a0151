import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { hearNotices } from '#runtime/pg-notifications'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import type { Loop } from '#runtime/scheduling/loop'

/**
 * Starts the loops of each chain, which every new transaction, disbursement and signed operation and every followed block
 * wakes. `stop` waits for work in progress.
 */
export function startChainLoops(ctx: EngineCtx, loopsOf: (chain: Chain) => readonly Loop[]): Service {
  const loops = new Map(
    ctx.chains.list().map((chain) => [chain.network.blockchain as string, loopsOf(chain)]),
  )
  const unlisten = hearNotices(ctx, 'chain_work', (blockchain) => {
    for (const loop of loops.get(blockchain) ?? []) loop.wake()
  })
  return serviceOf(unlisten, [...loops.values()].flat())
}
