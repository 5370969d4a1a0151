import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { type CanonicalBlock, syncBalances } from '#engines/indexer/index'
import { openUnlistedHolds } from '#engines/ledger/index'
import { endHolds, heldMs } from './book-balances.ts'
import { finishChecks, keyOf, lockChecks, type TokenCheck } from './store.ts'

/**
 * Hands balances in tokens that were listed since to the indexer, which books their logs with each block: brings them in
 * line once, and ends the holds that transfers placed before.
 */
export async function handOver(
  ctx: EngineCtx,
  chain: Chain,
  head: CanonicalBlock,
  checks: readonly TokenCheck[],
  nowMs: number,
): Promise<void> {
  const owners = new Map(checks.map((check) => [`${check.entityId}:${check.address}`, check]))
  for (const owner of owners.values()) await syncBalances(ctx, chain, owner, nowMs)
  await ctx.database.tx(async (tx) => {
    const locked = await lockChecks(tx, checks, head.number)
    const open = await endHolds(tx, nowMs, head, await openUnlistedHolds(tx, locked))
    const isHeld = new Set(open.map(keyOf))
    const pauseMs = (check: TokenCheck) => (isHeld.has(keyOf(check)) ? heldMs.min : undefined)
    await finishChecks(
      tx,
      locked.map((check) => ({ ...check, changed: false, pauseMs: pauseMs(check) })),
      head.number,
    )
  })
}
