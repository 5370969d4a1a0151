import type { EngineCtx } from '#engines/ctx'
import { failpoint } from '#runtime/scheduling/failpoints'
import type { Turn } from '#runtime/turns/store'
import { addToFlow, isAnyUncounted, lockCounting, removeCounted, uncountedTransfers } from './store.ts'

/** Maximum transfers of one `tx`. */
const batchMax = 500

type CountingCtx = Pick<EngineCtx, 'database'>

/** Adds one batch of transfers, of many entities in turns, to the flow. True when it had some: more may wait. */
export const countFlow = async (ctx: CountingCtx, turn: Turn, limit = batchMax): Promise<boolean> =>
  (await isAnyUncounted(ctx.database)) && countBatch(ctx, turn, limit)

/** A transfer leaves the queue in the `tx` that counts it, so it is counted once whatever ends a worker. */
const countBatch = ({ database }: CountingCtx, turn: Turn, limit: number): Promise<boolean> =>
  database.tx(async (tx) => {
    if (!(await lockCounting(tx))) return false
    const transfers = await uncountedTransfers(tx, turn, limit)
    if (transfers.length === 0) return false
    await addToFlow(tx, transfers)
    failpoint('within-flow-count')
    await removeCounted(tx, transfers)
    failpoint('before-flow-commit')
    return true
  })
