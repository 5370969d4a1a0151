import { startChainLoops } from '#engines/chain-loops'
import type { EngineCtx } from '#engines/ctx'
import { announceWork } from '#engines/transactions/index'
import { countFailedBundles, releaseBundles } from '#engines/transactions/operations/index'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { succeedOnce } from '#runtime/scheduling/memoize'
import { newTurn, type Turn } from '#runtime/turns/store'
import type { GasFaucet } from '../gas.ts'
import { registerPaymasters } from '../sponsor.ts'
import { bundleWaiting } from './bundle-operations.ts'
import { emptyRetired } from './empty-retired.ts'
import { settleCalls } from './store.ts'
import { usdcPaymasterWatch } from './usdc-paymaster.ts'

const settledMax = 100

/** Starts bundling the operations of smart accounts on every chain. Any number of processes may. */
export const startBundling = (ctx: EngineCtx, gasFaucet: GasFaucet | undefined) =>
  startChainLoops(ctx, (chain) => {
    if (!chain.accounts) return []
    const { blockchain } = chain.network
    const turns = { bundling: newTurn('bundling operations'), settling: newTurn('settling account calls') }
    const trouble = (what: string) => logTrouble(ctx.log, what, { blockchain })
    const whenRegistered = succeedOnce(() => registerPaymasters(ctx, chain))
    const bundle = async () => {
      await whenRegistered()
      return bundleWaiting(ctx, chain, turns.bundling, gasFaucet)
    }
    return [
      repeat(bundle, trouble('bundling operations')),
      repeat(() => settleEnded(ctx, blockchain, turns.settling), trouble('settling account calls')),
      repeat(() => emptyRetired(ctx, chain), trouble('emptying earlier paymasters')),
      repeat(usdcPaymasterWatch(ctx, chain), trouble('watching paymasters that take USDC')),
    ]
  })

/** Settles calls that ended; operations of bundles that ended without them wait for another one. */
async function settleEnded(ctx: EngineCtx, blockchain: string, turn: Turn): Promise<boolean> {
  const settled = await ctx.database.tx(async (tx) => {
    const ended = await settleCalls(tx, turn, blockchain, settledMax)
    const withoutEffect = ended.filter(({ state }) => state !== 'CONFIRMED' && state !== 'COMPLETE')
    for (const { entityId, id, purpose, state, errorDetails } of withoutEffect)
      ctx.log.warn({ entityId, id, blockchain, purpose, state, errorDetails }, 'a call for accounts failed')
    await countFailedBundles(tx, ctx.clock.nowMs(), withoutEffect)
    await releaseBundles(tx, ctx.clock.nowMs(), withoutEffect)
    return ended.length
  })
  if (settled > 0) await announceWork(ctx.database, blockchain)
  return settled === settledMax
}
