import { freeze } from '#custody/freezes/index'
import type { EngineCtx } from '#engines/ctx'
import type { Turn } from '#runtime/turns/store'
import { claimToFreeze, takeToFreeze } from './store/screening.ts'

const batchMax = 20

/** Freezes the wallets that received money from senders whose rule freezes. True when more may wait. */
export async function freezeReceivers(ctx: EngineCtx, turn: Turn, blockchain: string): Promise<boolean> {
  const claimed = await claimToFreeze(ctx.database, turn, blockchain, batchMax)
  const scope = { db: ctx.database, clock: ctx.clock, actor: 'screening' }
  // One tx each: a freeze waits for signers of its entity.
  for (const received of claimed) await freeze(scope, received, (tx) => takeToFreeze(tx, received))
  return claimed.length > 0
}
