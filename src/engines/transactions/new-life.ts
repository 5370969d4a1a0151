import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { indexedHead } from '#engines/indexer/index'
import type { NewAttempt } from './store/attempts.ts'

export type Life = NonNullable<NewAttempt['life']>

/** The expiry of what is signed now; `undefined` on chains where transactions have none. */
export async function newLife(ctx: EngineCtx, chain: Chain): Promise<Life | undefined> {
  if (!chain.lifetimes) return undefined
  // Read first: a block that is applied meanwhile is one that may have the transaction.
  const applied = await indexedHead(ctx.database, chain.network.blockchain)
  if (!applied) throw new Error(`no block of ${chain.network.blockchain} is applied yet`)
  const expiresMs = chain.lifetimes.expiryAfter(await chain.blocks.head())
  return { expiresMs, signedAt: applied.number }
}
