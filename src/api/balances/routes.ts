import { requireWallet } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { walletCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { listWalletBalances } from './list-balances.ts'
import { balancesAnswer, balancesQuery, nftsAnswer, walletParams } from './schema.ts'

const errors = ['idNotUuid', 'walletNotFound'] as const

export const balanceEndpoints = [
  endpoint({
    method: 'GET',
    path: '/v1/w3s/wallets/{id}/balances',
    operationId: 'listWalletBalances',
    summary: 'List the balances of a wallet',
    description: 'Lists the balances of the monitored tokens, or with `includeAll` of all tokens.',
    tag: 'Wallets',
    auth: 'apiKey',
    params: walletParams,
    query: balancesQuery,
    response: balancesAnswer,
    collection: { ...walletCollection, items: 'tokenBalances' },
    errors,
    verb: (ctx: Ctx, { params, query, page }) => listWalletBalances(ctx, params.id, query, page),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/wallets/{id}/nfts',
    operationId: 'listWalletNfts',
    summary: 'List the NFTs of a wallet',
    description: 'Returns an empty list: this version does not list NFTs.',
    tag: 'Wallets',
    auth: 'apiKey',
    params: walletParams,
    query: balancesQuery,
    response: nftsAnswer,
    errors: ['idNotUuid', 'walletNotFound'],
    verb: async (ctx: Ctx, { params }) => {
      await requireWallet(ctx, params.id)
      return { nfts: [] }
    },
  }),
]
