import type { Wallet } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { syncBalances } from '#engines/indexer/reconciliation/index'
import { compareWalletTokens } from '#engines/tokens/index'

/**
 * Compares a wallet with its chain before it is shown, so that coins that came without a transfer are included.
 * An unreachable node must not hide the booked balances. Differences are dated so that this very answer shows them.
 */
export async function compareWallet(
  ctx: Ctx,
  { blockchain, address }: Pick<Wallet, 'blockchain' | 'address'>,
): Promise<void> {
  const chain = ctx.chains.find(blockchain)
  if (!chain) return
  const owner = { entityId: ctx.entity.id, address }
  await syncBalances(ctx, chain, owner, ctx.receivedMs)
    .then(() => compareWalletTokens(ctx, chain, owner, ctx.receivedMs))
    .catch((error) => ctx.log.warn({ err: error, ...owner, blockchain }, 'balances not compared'))
}
