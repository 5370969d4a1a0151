import { listWallets, requireWallet, updateWallet, walletsMadeWith } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { orderedWalletCollection, walletCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { readableBy } from '#runtime/row-owner'
import { createWalletsOf, prepareWallets } from './create-wallets.ts'
import { deriveByAddress, deriveById, prepareByAddress, prepareById } from './derive-wallet.ts'
import { listWalletsWithBalances, type WalletsWithBalancesQuery } from './list-wallets-with-balances.ts'
import {
  createWalletsBody,
  deriveBody,
  deriveByAddressBody,
  deriveParams,
  showWallet,
  updateWalletBody,
  walletAnswer,
  walletParams,
  walletsAnswer,
  walletsQuery,
  walletsWithBalancesAnswer,
  walletsWithBalancesQuery,
} from './schema.ts'
import { canonicalWalletFilters } from './wallet-filters.ts'

const tag = 'Wallets'

export const walletEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/w3s/developer/wallets',
    operationId: 'createWallets',
    largeBody: true,
    summary: 'Create wallets on one or several blockchains',
    description:
      'Creates `count` wallets on each of the blockchains. On EVM chains that one request names, wallets share their addresses.',
    tag,
    auth: 'apiKey',
    body: createWalletsBody,
    response: walletsAnswer,
    status: 201,
    idempotent: {
      conflict: 'idempotencyKeyReused',
      resourceIdOf: (result: { wallets: { id: string }[] }) => result.wallets[0]!.id,
      reload: async (ctx: Ctx, id) => ({
        wallets: (await walletsMadeWith(ctx.db, ctx.entity.id, id)).map(showWallet),
      }),
    },
    errors: [
      'entitySecretWrong',
      'ciphertextReused',
      'entitySecretMissing',
      'keyOnOtherEnvironment',
      'walletSetNotFound',
      'walletLimitReached',
      'metadataCountDiffers',
      'smartAccountUnavailable',
      'accountContractsUnknown',
      'blockchainUnavailable',
    ],
    prepare: prepareWallets,
    verb: async (ctx: Ctx, input, secret) => ({
      wallets: (await createWalletsOf(ctx, input, secret)).map(showWallet),
    }),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/wallets',
    operationId: 'listWallets',
    summary: 'List wallets',
    description: 'Lists the wallets of the user or, without a user token, of the entity, newest first.',
    tag,
    auth: 'apiKey',
    userToken: 'optional',
    query: walletsQuery,
    response: walletsAnswer,
    collection: { ...orderedWalletCollection, items: 'wallets' },
    errors: [],
    verb: async (ctx: Ctx, { query, page }) => {
      const found = await listWallets(ctx.db, readableBy(ctx), canonicalWalletFilters(query), page)
      return { found, items: found.rows.map(showWallet) }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/developer/wallets/balances',
    operationId: 'listWalletsWithBalances',
    summary: 'List wallets with their balances',
    description:
      'Lists the wallets of one blockchain with their balance of the native coin and, if `tokenAddress` names one, of a token.',
    tag,
    auth: 'apiKey',
    query: walletsWithBalancesQuery,
    response: walletsWithBalancesAnswer,
    collection: { ...walletCollection, items: 'wallets' },
    errors: ['tokenAddressUnsupported', 'blockchainUnsupportedForOperation'],
    verb: (ctx: Ctx, { query, page }) =>
      listWalletsWithBalances(ctx, query as WalletsWithBalancesQuery, page),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/wallets/{id}',
    operationId: 'getWallet',
    summary: 'Get a wallet',
    description: 'Returns one wallet.',
    tag,
    auth: 'apiKey',
    userToken: 'optional',
    params: walletParams,
    response: walletAnswer,
    errors: ['idNotUuid', 'walletNotFound'],
    verb: async (ctx: Ctx, { params }) => ({ wallet: showWallet(await requireWallet(ctx, params.id)) }),
  }),
  endpoint({
    method: 'PUT',
    path: '/v1/w3s/wallets/{id}',
    operationId: 'updateWallet',
    summary: 'Change a wallet',
    description: 'Changes the name or the reference of a wallet. Fields that are absent keep their values.',
    tag,
    auth: 'apiKey',
    userToken: 'optional',
    params: walletParams,
    body: updateWalletBody,
    response: walletAnswer,
    errors: ['idNotUuid', 'walletNotFound', 'walletFrozen'],
    verb: async (ctx: Ctx, { params, body }) => ({
      wallet: showWallet(await updateWallet(ctx, params.id, body)),
    }),
  }),
  endpoint({
    method: 'PUT',
    path: '/v1/w3s/developer/wallets/{id}/blockchains/{blockchain}',
    operationId: 'deriveWallet',
    summary: 'Derive a wallet on another blockchain',
    description:
      'Creates a wallet with the same address on another EVM blockchain. A wallet that exists there already gets the given metadata.',
    tag,
    auth: 'apiKey',
    params: deriveParams,
    body: deriveBody,
    response: walletAnswer,
    status: 201,
    alternatives: { 200: 'The wallet exists already.' },
    errors: [
      'idNotUuid',
      'walletNotFound',
      'walletFrozen',
      'walletLimitReached',
      'blockchainUnsupportedForOperation',
      'smartAccountUnavailable',
      'accountContractsUnknown',
      'blockchainUnavailable',
      'keyOnOtherEnvironment',
    ],
    prepare: prepareById,
    verb: deriveById,
  }),
  endpoint({
    method: 'PUT',
    path: '/v1/w3s/developer/wallets/derive',
    operationId: 'deriveWalletByAddress',
    summary: 'Derive a wallet by address',
    description:
      'Creates a wallet with the same address on another EVM blockchain, given the address instead of the id. A wallet that exists there already gets the given metadata.',
    tag,
    auth: 'apiKey',
    body: deriveByAddressBody,
    response: walletAnswer,
    status: 201,
    alternatives: { 200: 'The wallet exists already.' },
    errors: [
      'walletNotFound',
      'walletFrozen',
      'walletLimitReached',
      'blockchainUnsupportedForOperation',
      'smartAccountUnavailable',
      'accountContractsUnknown',
      'blockchainUnavailable',
      'keyOnOtherEnvironment',
    ],
    prepare: prepareByAddress,
    verb: deriveByAddress,
  }),
]
