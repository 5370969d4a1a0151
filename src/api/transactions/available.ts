import type { Ctx } from '#engines/ctx'
import { balancesOf, type Token } from '#engines/ledger/index'

/** What a wallet has of a token that nothing under way will take, in base units. */
export async function available(
  ctx: Ctx,
  wallet: { blockchain: string; address: string },
  token: Token,
): Promise<bigint> {
  const balances = await balancesOf(ctx.db, ctx.entity.id, wallet.blockchain, [wallet.address])
  const balance = balances.find((row) => row.tokenId === token.id)
  return balance ? balance.postedAtomic - balance.heldAtomic : 0n
}
