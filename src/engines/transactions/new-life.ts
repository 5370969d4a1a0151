import type { Chain } from '#chains/chain'
import type { EngineCtx } from '#engines/ctx'
import { canonicalHead } from '#engines/indexer/index'
import type { Life } from './store/attempts.ts'

/** Too many blocks of a chain are not read yet for a transaction to live: signing waits for them, and for nothing else. */
export class BlocksUnread extends Error {}

/** The expiry of what is signed now; `undefined` on chains where transactions have none. */
export async function newLife(ctx: EngineCtx, chain: Chain): Promise<Life | undefined> {
  if (!chain.lifetimes) return undefined
  // Read first: a block that is applied meanwhile is one that may have the transaction.
  const applied = await canonicalHead(ctx.database, chain.network.blockchain)
  if (!applied) throw new Error(`no block of ${chain.network.blockchain} is applied yet`)
  const expiry = chain.lifetimes.expiryAfter(await chain.blocks.head(), applied)
  if (!expiry) throw new BlocksUnread(`${chain.network.blockchain} is followed too far behind its nodes`)
  return { ...expiry, signedAt: applied.number }
}

/** The fields of a transaction that its life decides. */
export const termsOfLife = ({ expiresMs, recentBlock }: Partial<Life> = {}) => ({ expiresMs, recentBlock })
