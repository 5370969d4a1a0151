/**
 * The flow: what came in and went out of each entity over time, in buckets of five minutes that are sums of the books. Transfers are
 * counted in batches after the `tx` that books them, about a second later. Any number of workers may run; one counts at a time.
 */
import type { EngineCtx } from '#engines/ctx'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { newTurn } from '#runtime/turns/store'
import { countFlow } from './count-flow.ts'

export { flowSums, storedBucketMs } from './store.ts'

/** Interval between batches, and the time for which a transfer is not in the flow. */
const countMs = 1_000

export function startFlow(ctx: EngineCtx): Service {
  const turn = newTurn('counting the flow')
  return serviceOf(repeat(() => countFlow(ctx, turn), logTrouble(ctx.log, 'counting the flow'), countMs))
}
