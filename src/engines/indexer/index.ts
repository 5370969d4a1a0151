/**
 * Follows every chain block by block and never skips one. The contents of a block are stored by its hash, booked in the
 * ledger, and reverted when the block is orphaned. Each block applied or reverted is one numbered step that the engines above
 * process at their own pace. Woken by new heads; one process per chain holds a lease, and two at once are harmless.
 *
 * Event monitor: an event of a contract that an entity records. Event log: one log of it. History: the old blocks that are read
 * for it.
 */

import { randomUUID } from 'node:crypto'
import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import type { Db } from '#runtime/db/db'
import { type Service, serviceOf } from '#runtime/scheduling/lifecycle'
import { logTrouble, repeat } from '#runtime/scheduling/loop'
import { catchUp } from './catch-up.ts'
import { alarmSingleEndpoints } from './endpoint-agreement.ts'
import { watchEndpointLag } from './endpoint-lag.ts'
import { haltOnDeepReorg, watchHalt } from './halt.ts'
import { openReadAhead } from './read-ahead.ts'
import { watchSilentChains } from './silent-chains.ts'
import { releaseLease, storedBlocks, takeLease } from './store/blocks.ts'
import { highestFinal } from './store/steps.ts'

export { acceptFork, type Fork, ForkChanged, findFork } from './accept-fork.ts'
export { followSteps } from './follow-steps.ts'
export { isHalted } from './halt.ts'
export { startPruning } from './prune.ts'
export {
  type CanonicalBlock,
  canonicalBetween,
  canonicalHashAt,
  canonicalHead,
  canonicalHeights,
  contentHashesBetween,
  followedChains,
  indexedHead,
  lockCanonical,
} from './store/blocks.ts'
export { findHalt } from './store/halts.ts'
export {
  type BlockStep,
  hasProcessedSteps,
  hasStepsToUndo,
  haveAllProcessedBlock,
  highestComplete,
  highestFinal,
  lockFollowed,
  type Step,
  stepsOfBlocks,
} from './store/steps.ts'

const leaseMs = 3_000

/** The blocks that are stored without a gap, up to the highest final one; `undefined` while none is final. */
export const finalBlocks = async (db: Db, blockchain: string) =>
  storedBlocks(db, blockchain, await highestFinal(db, blockchain))

/** Starts following all chains; `stop` waits for the block under way. */
export function startIndexer(ctx: EngineCtx): Service {
  const holder = randomUUID()
  alarmSingleEndpoints(ctx)
  const followers = [
    ...ctx.chains.list().map((chain) => followHead(ctx, chain, holder)),
    watchEndpointLag(ctx),
    watchSilentChains(ctx),
  ]
  return serviceOf(followers)
}

function followHead(ctx: EngineCtx, chain: Chain, holder: string): Service {
  const { blockchain } = chain.network
  const isHaltedNow = watchHalt(ctx, blockchain)
  const followed = { chain, readAhead: openReadAhead(chain) }
  let stopping = false
  let leasedUntilMs = 0
  const turn = async () => {
    if (await isHaltedNow()) return false
    if (performance.now() > leasedUntilMs - leaseMs / 2) {
      const startedMs = performance.now()
      if (!(await takeLease(ctx.database, blockchain, holder, leaseMs))) {
        followed.readAhead.forget()
        return false
      }
      leasedUntilMs = startedMs + leaseMs
    }
    const isFresh = () => performance.now() < leasedUntilMs - leaseMs / 2
    const pace = { stopping: () => stopping, mayGoOn: () => !stopping && isFresh() }
    const halts = await haltOnDeepReorg(ctx, blockchain, catchUp(ctx, followed, pace))
    // Renews the lease and repeats at once when the turn ended because the lease is old, not because the head was reached.
    return !stopping && (halts || !isFresh())
  }
  const loop = repeat(turn, logTrouble(ctx.log, 'indexing a chain', { blockchain }))
  const unwatch = chain.blocks.watchHeads(loop.wake)
  const endTurn = () => {
    stopping = true
    unwatch()
  }
  return serviceOf(endTurn, loop, () => releaseLease(ctx.database, blockchain, holder).catch(() => undefined))
}
