import { requireWallet } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { walletCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { listWalletBalances, listWalletNfts } from './list-balances.ts'
import { balancesAnswer, balancesQuery, nftsAnswer, walletBalancesParams } from './schema.ts'

const errors = ['idNotUuid', 'walletNotFound', 'blockchainUnsupportedForOperation'] as const

export const balanceEndpoints = [
  endpoint({
    method: 'GET',
    path: '/v1/w3s/wallets/{id}/balances',
    operationId: 'listWalletBalances',
    summary: 'List the balances of a wallet',
    description:
      'Lists the balances of the monitored tokens, or with `includeAll` of all tokens. A token that is not listed shows what its contract tells.',
    tag: 'Wallets',
    auth: 'apiKey',
    userToken: 'optional',
    params: walletBalancesParams,
    query: balancesQuery,
    response: balancesAnswer,
    collection: { ...walletCollection, items: 'tokenBalances' },
    errors,
    verb: async (ctx: Ctx, { params, query, page }) =>
      listWalletBalances(ctx, await requireWallet(ctx, params.id), query, page),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/wallets/{id}/nfts',
    operationId: 'listWalletNfts',
    summary: 'List the NFTs of a wallet',
    description:
      'Lists the NFTs of the monitored tokens, or with `includeAll` of all tokens: items of ERC721 and ERC1155 contracts, and tokens of Solana that are one NFT each.',
    tag: 'Wallets',
    auth: 'apiKey',
    userToken: 'optional',
    params: walletBalancesParams,
    query: balancesQuery,
    response: nftsAnswer,
    collection: { ...walletCollection, items: 'nfts' },
    errors,
    verb: async (ctx: Ctx, { params, query, page }) =>
      listWalletNfts(ctx, await requireWallet(ctx, params.id), query, page),
  }),
]
