import type { Chain } from '#chains/chain'
import type { Wallet } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { syncBalances } from '#engines/indexer/index'
import { holdsAreSettled } from '#engines/transactions/index'

/**
 * The condition that a refusal for lack of coins waits for: the wallet is compared with its chain, since coins also come
 * without a transfer, and holds of coins that already left are released. To be called outside the `tx` that refused.
 */
export function settledFor(ctx: Ctx, chain: Chain, { address }: Wallet): () => Promise<boolean> {
  const outside: Ctx = { ...ctx, db: ctx.database }
  const { blockchain } = chain.network
  const owner = { entityId: ctx.entity.id, address }
  let comparing: Promise<unknown> | undefined
  return async () => {
    comparing ??= syncBalances(outside, chain, owner).catch((error) =>
      ctx.log.warn({ err: error, ...owner, blockchain }, 'balances not compared'),
    )
    await comparing
    return holdsAreSettled(outside, blockchain)
  }
}
