import { compareWallet } from '#api/sources/compare-wallet'
import { requireChains } from '#api/sources/connected-chain'
import { canonicalAddress } from '#chains/addresses/canonical'
import type { Blockchain } from '#chains/blockchains'
import type { Wallet } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { listBalances, listItems } from '#engines/ledger/index'
import { metadataOf } from '#engines/tokens/index'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import { showBalance, showNft, uriOf } from './schema.ts'

type BalancesQuery = { includeAll?: boolean; name?: string; tokenAddress?: string; standard?: string }

type ShownWallet = Pick<Wallet, 'blockchain' | 'address'>

/** The balances of a wallet in fungible tokens. */
export async function listWalletBalances(
  ctx: Ctx,
  wallet: ShownWallet,
  query: BalancesQuery,
  page: PageQuery,
): Promise<ListResult> {
  const owner = await comparedOwner(ctx, wallet)
  const found = await listBalances(ctx.db, owner, filtersOf(query), page)
  return { found, items: found.rows.map(showBalance) }
}

/** The NFTs of a wallet. */
export async function listWalletNfts(
  ctx: Ctx,
  wallet: ShownWallet,
  query: BalancesQuery,
  page: PageQuery,
): Promise<ListResult> {
  const owner = await comparedOwner(ctx, wallet)
  const found = await listItems(ctx.db, owner, filtersOf(query), page)
  const described = found.rows.flatMap((item) => {
    const uri = uriOf(item)
    return uri === undefined ? [] : [{ id: item.id, uri }]
  })
  const metadata = await metadataOf(ctx, described)
  return { found, items: found.rows.map((item) => showNft(item, metadata.get(item.id))) }
}

/** Compares a wallet with its chain first, so that coins that came without a transfer are included. */
async function comparedOwner(ctx: Ctx, wallet: ShownWallet) {
  requireChains(wallet.blockchain as Blockchain, 'id')
  await compareWallet(ctx, wallet)
  return { entityId: ctx.entity.id, blockchain: wallet.blockchain, address: wallet.address }
}

const filtersOf = ({ includeAll, name, standard, tokenAddress }: BalancesQuery) => ({
  includeAll,
  name,
  standard: standard === '' ? null : standard,
  // Clients send an empty parameter where they mean none.
  tokenAddresses: tokenAddress
    ? tokenAddress.split(',').map((address) => canonicalAddress(address.trim()))
    : undefined,
})
