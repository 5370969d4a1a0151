import type { EngineCtx } from '#engines/ctx'
import { failpoint } from '#lib/failpoints'
import { succeedOnce } from '#lib/once'
import type { Db } from '#runtime/db/db'
import { logTrouble, repeat } from '#runtime/loop'
import { hearNotices } from '#runtime/notices'
import { claimStep, ensureCursor, finishStep, type Step } from './store/steps.ts'

/**
 * Calls `onStep` for every step of every chain, in order and exactly once for this engine, with any number of processes: the
 * writes of `onStep` and the engine's cursor commit in one `tx`. A failing step is retried.
 */
export function followSteps(
  ctx: EngineCtx,
  engine: string,
  onStep: (tx: Db, step: Step) => Promise<void>,
): { stop(): Promise<void> } {
  const loops = ctx.chains.list().map(({ network }) => followChain(ctx, engine, network.blockchain, onStep))
  const byName = new Map(loops.map((loop) => [loop.blockchain, loop]))
  const unlisten = hearNotices(ctx, 'block_steps', (blockchain) => byName.get(blockchain)?.wake())
  return {
    stop: async () => {
      await unlisten()
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

function followChain(
  ctx: EngineCtx,
  engine: string,
  blockchain: string,
  onStep: (tx: Db, step: Step) => Promise<void>,
) {
  const whenCursor = succeedOnce(() => ensureCursor(ctx.database, engine, blockchain))
  const turn = async () => {
    await whenCursor()
    return ctx.database.tx(async (tx) => {
      const step = await claimStep(tx, engine, blockchain)
      if (!step) return false
      await onStep(tx, step)
      failpoint('before-cursor-advance')
      await finishStep(tx, engine, step)
      return true
    })
  }
  return {
    blockchain,
    ...repeat(turn, logTrouble(ctx.log, 'processing the steps of a chain', { engine, blockchain })),
  }
}
