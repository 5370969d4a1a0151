import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { recordChanges } from '#runtime/record/store'
import { newTurn, type Turn } from '#runtime/turns/store'
import { suggestedFees } from '../fees.ts'
import { requestBumps, stuckTransactions } from '../store/replacements.ts'
import { enterState } from '../store/transactions.ts'

/** Time that a transaction may wait for the base fee to fall before it counts as stuck. */
const stuckAfterMs = 60_000
const stuckAfterLocalMs = 3_000
const stuckMax = 200
/** Interval between scans of all in-flight attempts. */
const scanEveryMs = 1_000

/**
 * Returns a function that sets sent transactions that offer less than the base fee to STUCK; true when it found any. With the
 * operator's `autoBump` they are bumped automatically, unless a user approved their fee; treasury transactions always are.
 */
export function stuckBumper(ctx: EngineCtx, chain: Chain): () => Promise<boolean> {
  const turn = newTurn('finding stuck transactions')
  let dueMs = 0
  return async () => {
    if (performance.now() < dueMs) return false
    dueMs = performance.now() + scanEveryMs
    return bumpStuck(ctx, chain, turn)
  }
}

async function bumpStuck(ctx: EngineCtx, chain: Chain, turn: Turn): Promise<boolean> {
  const { blockchain } = chain.network
  const { baseFeeAtomic } = await suggestedFees(chain)
  const afterMs = chain.local ? stuckAfterLocalMs : stuckAfterMs
  // Uses the clock that dates attempts; the database's clock may differ.
  const beforeMs = ctx.clock.nowMs() - afterMs
  const below = await stuckTransactions(ctx.database, turn, blockchain, baseFeeAtomic, beforeMs, stuckMax)
  if (below.length === 0) return false
  return ctx.database.tx(async (tx) => {
    const nowMs = ctx.clock.nowMs()
    const stuck = await enterState(tx, nowMs, 'STUCK', below)
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
    // Treasury transactions have no owner who could request a bump.
    const ofTreasury = new Set(below.filter((row) => row.ofTreasury).map(({ id }) => id))
    const approved = new Set(below.filter((row) => row.hasFeeMax).map(({ id }) => id))
    const bumped = stuck.filter(({ id }) => (ctx.config.autoBump && !approved.has(id)) || ofTreasury.has(id))
    if (bumped.length > 0) await requestBumps(tx, nowMs, blockchain, bumped)
    return stuck.length > 0
  })
}
