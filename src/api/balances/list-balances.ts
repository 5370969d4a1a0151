import { compareWallet } from '#api/compare-wallet'
import { canonicalAddress } from '#chains/addresses/canonical'
import { requireWallet } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { listBalances } from '#engines/ledger/index'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import { showBalance } from './schema.ts'

export type BalancesQuery = { includeAll?: boolean; name?: string; tokenAddress?: string; standard?: string }

/** The balances of a wallet. Compares it with its chain first, so that coins that came without a transfer are included. */
export async function listWalletBalances(
  ctx: Ctx,
  walletId: string,
  query: BalancesQuery,
  page: PageQuery,
): Promise<ListResult> {
  const wallet = await requireWallet(ctx, walletId)
  const owner = { entityId: ctx.entity.id, blockchain: wallet.blockchain, address: wallet.address }
  await compareWallet(ctx, wallet)
  // Clients send an empty parameter where they mean none.
  const tokenAddresses = query.tokenAddress
    ? query.tokenAddress.split(',').map((address) => canonicalAddress(address.trim()))
    : undefined
  const { includeAll, name, standard } = query
  const found = await listBalances(ctx.db, owner, { includeAll, name, standard, tokenAddresses }, page)
  return { found, items: found.rows.map(showBalance) }
}
