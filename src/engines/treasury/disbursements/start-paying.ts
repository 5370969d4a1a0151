import type { Chain } from '#chains/chain'
import { startChainLoops } from '#engines/chain-loops'
import type { EngineCtx } from '#engines/ctx'
import { type Loop, logTrouble, repeat } from '#runtime/scheduling/loop'
import { newTurn, type Turn } from '#runtime/turns/store'
import type { GasFaucet } from '../gas.ts'
import { burnCoins } from '../rebalancing/burn-coins.ts'
import { settleSweeps } from '../sweeping/sweep.ts'
import { payNext } from './pay-disbursements.ts'
import { type SettlingTurns, settleDisbursements, settlingTurns } from './settle-disbursements.ts'
import {
  type DisbursementKind,
  disbursementKinds,
  pendingWork,
  waitingAmount,
} from './store/disbursements.ts'

/** Starts paying payouts, transfers and refunds on every chain. Any number of processes may. */
export const startPaying = (ctx: EngineCtx, gasFaucet: GasFaucet | undefined) =>
  startChainLoops(ctx, (chain) => loopsOf(ctx, chain, gasFaucet))

function loopsOf(ctx: EngineCtx, chain: Chain, gasFaucet: GasFaucet | undefined): Loop[] {
  const { blockchain } = chain.network
  const turns = Object.fromEntries(
    disbursementKinds.map((kind) => [kind, { paying: newTurn('paying'), settling: settlingTurns() }]),
  ) as Record<DisbursementKind, { paying: Turn; settling: SettlingTurns }>
  const sweeping = newTurn('settling sweeps')
  const paying = repeat(
    async () => {
      const { waiting } = await pendingWork(ctx.database, blockchain)
      let paid = false
      for (const kind of waiting)
        paid = (await payNext(ctx, chain, kind, turns[kind].paying, gasFaucet)) || paid
      return paid
    },
    logTrouble(ctx.log, 'paying disbursements', { blockchain }),
  )
  const settling = repeat(
    async () => {
      if (!(await pendingWork(ctx.database, blockchain)).underWay) return false
      let more = await settleSweeps(ctx, chain, sweeping)
      for (const kind of disbursementKinds)
        more = (await settleDisbursements(ctx, chain, kind, turns[kind].settling)) || more
      return more
    },
    logTrouble(ctx.log, 'settling disbursements', { blockchain }),
  )
  const rebalancing = repeat(
    () => burnCoins(ctx, chain, gasFaucet, waitingAmount),
    logTrouble(ctx.log, 'moving coins between chains', { blockchain }),
  )
  return [paying, settling, rebalancing]
}
