import type { Wallet } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { syncBalances } from '#engines/indexer/index'

/**
 * Asks the chain what the wallet owns before it is shown, so that coins which came without a transfer are seen too.
 * A node that is away must not hide what the books know. What is found is dated so that this very answer shows it.
 */
export async function compareWallet(ctx: Ctx, { blockchain, address }: Wallet): Promise<void> {
  const chain = ctx.chains.find(blockchain)
  if (!chain) return
  const owner = { entityId: ctx.entity.id, address }
  await syncBalances(ctx, chain, owner, ctx.receivedMs).catch((error) =>
    ctx.log.warn({ err: error, ...owner, blockchain }, 'balances not compared'),
  )
}
