import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { type Loop, repeat } from '#runtime/loop'
import type { Fuel } from './gas.ts'
import { payNext } from './pay-orders.ts'
import { settleOrders } from './settle-orders.ts'
import { pendingWork } from './store/orders.ts'
import { settleSweeps } from './sweep.ts'

/** Starts paying payouts and transfers on every chain; any number of processes may. `stop` waits for the work under way. */
export function startPaying(ctx: EngineCtx, fuel: Fuel | undefined): { stop(): Promise<void> } {
  const loops = new Map<string, Loop[]>()
  for (const chain of ctx.chains.list()) loops.set(chain.network.blockchain, loopsOf(ctx, chain, fuel))
  // Told of every new transaction, every order, and every block that was followed.
  const listening = ctx.database.listen('transactions', (blockchain) => {
    for (const loop of loops.get(blockchain) ?? []) loop.wake()
  })
  listening.catch((error) => ctx.log.error({ err: error }, 'cannot listen for what is to be paid; polling'))
  return {
    stop: async () => {
      await listening.then(
        (end) => end(),
        () => undefined,
      )
      await Promise.all([...loops.values()].flat().map((loop) => loop.stop()))
    },
  }
}

function loopsOf(ctx: EngineCtx, chain: Chain, fuel: Fuel | undefined): Loop[] {
  const { blockchain } = chain.network
  const onError = (error: unknown) =>
    ctx.log.error({ err: error, blockchain }, 'paying what merchants send failed; trying again')
  const paying = repeat(async () => {
    const work = await pendingWork(ctx.database, blockchain)
    const paidOut = work.payout && (await payNext(ctx, chain, 'payout', fuel))
    return (work.transfer && (await payNext(ctx, chain, 'transfer', fuel))) || paidOut
  }, onError)
  const settling = repeat(async () => {
    if (!(await pendingWork(ctx.database, blockchain)).underWay) return false
    const more = [
      await settleOrders(ctx, chain, 'payout'),
      await settleOrders(ctx, chain, 'transfer'),
      await settleSweeps(ctx, chain),
    ]
    return more.includes(true)
  }, onError)
  return [paying, settling]
}
