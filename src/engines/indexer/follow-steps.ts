import type { EngineCtx } from '#engines/ctx'
import type { Db } from '#runtime/db/db'
import { hearNotices } from '#runtime/pg-notifications'
import { failpoint } from '#runtime/scheduling/failpoints'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { succeedOnce } from '#runtime/scheduling/memoize'
import { claimStep, ensureCursor, finishStep, nextStep, type Step } from './store/steps.ts'

/** The conditions under which an engine processes a step. */
type BeforeStep = {
  /** The engine that must have processed the step. */
  after: string
  /** Prepares the step outside any `tx`, for example by calls to a node. */
  prepare(step: Step): Promise<void>
}

/**
 * Calls `onStep` for every step of every chain, in order and exactly once for this engine, with any number of processes: the
 * writes of `onStep` and the engine's cursor commit in one `tx`. A failing step is retried.
 */
export function followSteps(
  ctx: EngineCtx,
  engine: string,
  onStep: (tx: Db, step: Step) => Promise<void>,
  before?: BeforeStep,
): Service {
  const loops = ctx.chains
    .list()
    .map(({ network }) => followChain(ctx, engine, network.blockchain, onStep, before))
  const byName = new Map(loops.map((loop) => [loop.blockchain, loop]))
  const wake = (blockchain: string) => byName.get(blockchain)?.wake()
  // An engine announces at 'chain_work' that it has processed a step.
  const channels = before ? ['block_steps', 'chain_work'] : ['block_steps']
  const unlisten = channels.map((channel) => hearNotices(ctx, channel, wake))
  return serviceOf(unlisten, loops)
}

function followChain(
  ctx: EngineCtx,
  engine: string,
  blockchain: string,
  onStep: (tx: Db, step: Step) => Promise<void>,
  before: BeforeStep | undefined,
) {
  const whenCursor = succeedOnce(() => ensureCursor(ctx.database, engine, blockchain))
  const turn = async () => {
    await whenCursor()
    const ready = before && (await nextStep(ctx.database, engine, blockchain, before.after))
    if (before && !ready) return false
    if (ready) await before.prepare(ready)
    return ctx.database.tx(async (tx) => {
      const step = await claimStep(tx, engine, blockchain)
      // Another process may have processed the prepared step meanwhile.
      if (!step || (ready && ready.step !== step.step)) return step !== undefined
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
