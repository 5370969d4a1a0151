import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { recordChanges } from '#runtime/record/store'
import { newTurn, type Turn } from '#runtime/turns/store'
import { suggestedFees } from './fees.ts'
import { leftBehind, wishDearer } from './store/replacements.ts'
import { enterState } from './store/transactions.ts'

/** How long a transaction may wait for the price to fall before it counts as stuck. */
const stuckAfterMs = 60_000
const stuckAfterLocalMs = 3_000
const stuckMax = 200
/** How often all that is in flight is read. */
const lookEachMs = 1_000

/**
 * Finds what was sent and offers less than blocks ask for: its state says so, and where the operator chose it (`autoBump`)
 * it is accelerated without being asked, and what a treasury sent always is. What it returns looks, and is true when something
 * was found.
 */
export function stuckFinder(ctx: EngineCtx, chain: Chain): () => Promise<boolean> {
  const turn = newTurn('finding stuck transactions')
  let dueMs = 0
  return async () => {
    if (performance.now() < dueMs) return false
    dueMs = performance.now() + lookEachMs
    return careForStuck(ctx, chain, turn)
  }
}

async function careForStuck(ctx: EngineCtx, chain: Chain, turn: Turn): Promise<boolean> {
  const { blockchain } = chain.network
  const { baseFeeAtomic } = await suggestedFees(chain)
  const afterMs = chain.local ? stuckAfterLocalMs : stuckAfterMs
  // By the clock that dates attempts: that of the database may say another hour.
  const beforeMs = ctx.clock.nowMs() - afterMs
  const behind = await leftBehind(ctx.database, turn, blockchain, baseFeeAtomic, beforeMs, stuckMax)
  if (behind.length === 0) return false
  return ctx.database.tx(async (tx) => {
    const nowMs = ctx.clock.nowMs()
    const stuck = await enterState(tx, nowMs, 'STUCK', behind)
    await recordChanges(
      tx,
      nowMs,
      stuck.map(({ entityId, id }) => ({
        entityId,
        actor: 'transactions',
        type: 'transaction.stuck',
        resourceId: id,
        data: { state: 'STUCK', reason: 'TRANSACTION_UNDER_PRICE' },
      })),
    )
    // A treasury's transactions have no owner who could ask.
    const ofTreasury = new Set(behind.filter((row) => row.ofTreasury).map(({ id }) => id))
    const cared = stuck.filter(({ id }) => ctx.config.autoBump || ofTreasury.has(id))
    if (cared.length > 0) await wishDearer(tx, nowMs, blockchain, cared)
    return stuck.length > 0
  })
}
