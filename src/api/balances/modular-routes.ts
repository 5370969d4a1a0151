import Type from 'typebox'
import { blockchainField } from '#api/fields'
import { canonicalAddress } from '#chains/addresses/canonical'
import type { Ctx } from '#engines/ctx'
import { findModularWallet, findWalletAt } from '#engines/modular/index'
import { invalid, notFound } from '#lib/errors'
import { walletCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { idParams, logged } from '#runtime/http/openapi/annotate'
import { listWalletBalances, listWalletNfts } from './list-balances.ts'
import { balancesAnswer, balancesQuery, modularBalancesQuery, nftsAnswer } from './schema.ts'

const walletParams = idParams('ModularWalletId', 'the modular wallet')
const addressField = logged(
  'address',
  Type.String({ maxLength: 100, description: 'The address of the modular wallet.' }),
)
const placeParams = Type.Object({ blockchain: blockchainField, address: addressField })
const placeQuery = {
  walletId: Type.Optional(
    Type.String({ format: 'uuid', description: 'The modular wallet; or send blockchain and address.' }),
  ),
  blockchain: Type.Optional(blockchainField),
  address: Type.Optional(addressField),
}

async function walletById(ctx: Ctx, id: string, location = 'id') {
  const wallet = await findModularWallet(ctx.db, ctx.entity.id, id)
  if (!wallet) throw notFound('wallet', id, 'walletNotFound', location)
  return wallet
}

async function walletAt(ctx: Ctx, { blockchain, address }: { blockchain: string; address: string }) {
  const wallet = await findWalletAt(ctx.db, ctx.entity.id, blockchain, canonicalAddress(address))
  if (!wallet) throw notFound('wallet', address, 'walletNotFound', 'address')
  return wallet
}

type PlaceQuery = { walletId?: string; blockchain?: string; address?: string }

function walletOfQuery(ctx: Ctx, { walletId, blockchain, address }: PlaceQuery) {
  if (walletId !== undefined) return walletById(ctx, walletId, 'walletId')
  if (blockchain !== undefined && address !== undefined) return walletAt(ctx, { blockchain, address })
  throw invalid({
    at: 'walletId',
    reason: 'is missing: send it, or blockchain and address',
    error: 'required',
  })
}

const kinds = [
  {
    name: 'balances',
    title: 'Balances',
    what: 'the balances',
    list: listWalletBalances,
    query: modularBalancesQuery,
    response: balancesAnswer,
    items: 'tokenBalances',
  },
  {
    name: 'nfts',
    title: 'Nfts',
    what: 'the NFTs',
    list: listWalletNfts,
    query: balancesQuery,
    response: nftsAnswer,
    items: 'nfts',
  },
] as const

const sharedOf = ({ what, response, items }: (typeof kinds)[number]) =>
  ({
    method: 'GET',
    tag: 'Modular wallets',
    auth: 'apiKey',
    summary: `List ${what} of a modular wallet`,
    response,
    collection: { ...walletCollection, items },
    errors: ['idNotUuid', 'walletNotFound'],
  }) as const

const placesOf = (kind: (typeof kinds)[number], prefix: string, name: string) => [
  endpoint({
    ...sharedOf(kind),
    path: `${prefix}/wallets/{id}/${kind.name}`,
    operationId: `list${name}Wallet${kind.title}`,
    description: `Lists ${kind.what} of a modular wallet in the monitored tokens.`,
    params: walletParams,
    query: kind.query,
    verb: async (ctx: Ctx, { params, query, page }) =>
      kind.list(ctx, await walletById(ctx, params.id), query, page),
  }),
  endpoint({
    ...sharedOf(kind),
    path: `${prefix}/wallets/{blockchain}/{address}/${kind.name}`,
    operationId: `list${name}Address${kind.title}`,
    description: `Lists ${kind.what} of a modular wallet, named by its address, in the monitored tokens.`,
    params: placeParams,
    query: kind.query,
    verb: async (ctx: Ctx, { params, query, page }) =>
      kind.list(ctx, await walletAt(ctx, params), query, page),
  }),
]

const ofQuery = (kind: (typeof kinds)[number]) =>
  endpoint({
    ...sharedOf(kind),
    path: `/v1/w3s/modular/wallets/${kind.name}`,
    operationId: `list${kind.title}OfModularWallet`,
    description: `Lists ${kind.what} of a modular wallet, which the query names, in the monitored tokens.`,
    query: Type.Object({ ...kind.query.properties, ...placeQuery }),
    verb: async (ctx: Ctx, { query, page }) => kind.list(ctx, await walletOfQuery(ctx, query), query, page),
  })

export const modularBalanceEndpoints = kinds.flatMap((kind) => [
  ofQuery(kind),
  ...placesOf(kind, '/v1/w3s/modular', 'Modular'),
  ...placesOf(kind, '/v1/w3s/buidl', 'Buidl'),
])
