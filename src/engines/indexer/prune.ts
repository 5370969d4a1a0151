import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { pruneBlocks } from './store/blocks.ts'

const batchMax = 1_000
const restMs = 60_000
const dayMs = 86_400_000

/**
 * Starts removing blocks and steps that exceed the operator's retention, in small batches; `stop` waits for the running one.
 * Local chains keep all: they can be rewound to any block.
 */
export function startPruning(ctx: EngineCtx): Service {
  const loops = ctx.chains
    .list()
    .filter(({ local }) => !local)
    .map((chain) => {
      const { blockchain } = chain.network
      const trouble = logTrouble(ctx.log, 'removing old blocks', { blockchain })
      return repeat(async () => (await prune(ctx, chain)) === batchMax, trouble, restMs)
    })
  return serviceOf(loops)
}

/** Removes one batch and returns its size. */
export const prune = ({ config, clock, database }: EngineCtx, chain: Chain, batch = batchMax) =>
  pruneBlocks(database, chain.network.blockchain, clock.nowMs() - config.blockRetentionDays * dayMs, batch)
