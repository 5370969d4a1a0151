import { listWallets, openSecretOf, requireWallet, updateWallet, walletsMadeWith } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { orderedWalletCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { createWalletsOf } from './create-wallets.ts'
import { deriveByAddress, deriveById } from './derive-wallet.ts'
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
} from './schema.ts'

const tag = 'Wallets'

export const walletEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/w3s/developer/wallets',
    operationId: 'createWallets',
    summary: 'Create wallets on one or several blockchains',
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
      'invalidRequest',
      'unauthorized',
      'entitySecretWrong',
      'ciphertextReused',
      'entitySecretMissing',
      'idempotencyKeyReused',
      'keyOnOtherEnvironment',
      'walletSetNotFound',
      'walletLimitReached',
      'metadataCountDiffers',
      'smartAccountUnavailable',
      'blockchainUnavailable',
    ],
    prepare: (ctx: Ctx, input) => openSecretOf(ctx, input),
    verb: async (ctx: Ctx, input, secret) => ({
      wallets: (await createWalletsOf(ctx, input, secret)).map(showWallet),
    }),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/wallets',
    operationId: 'listWallets',
    summary: 'List wallets',
    tag,
    auth: 'apiKey',
    query: walletsQuery,
    response: walletsAnswer,
    collection: { ...orderedWalletCollection, items: 'wallets' },
    errors: ['invalidRequest', 'unauthorized', 'cursorNotFound', 'cursorNotUuid'],
    verb: async (ctx: Ctx, { query, page }) => {
      const found = await listWallets(ctx.db, ctx.entity.id, query, page)
      return { found, items: found.rows.map(showWallet) }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/wallets/{id}',
    operationId: 'getWallet',
    summary: 'Get a wallet',
    tag,
    auth: 'apiKey',
    params: walletParams,
    response: walletAnswer,
    errors: ['unauthorized', 'idNotUuid', 'walletNotFound'],
    verb: async (ctx: Ctx, { params }) => ({ wallet: showWallet(await requireWallet(ctx, params.id)) }),
  }),
  endpoint({
    method: 'PUT',
    path: '/v1/w3s/wallets/{id}',
    operationId: 'updateWallet',
    summary: 'Change the name or the reference of a wallet',
    tag,
    auth: 'apiKey',
    params: walletParams,
    body: updateWalletBody,
    response: walletAnswer,
    errors: ['invalidRequest', 'unauthorized', 'idNotUuid', 'walletNotFound', 'walletFrozen'],
    verb: async (ctx: Ctx, { params, body }) => ({
      wallet: showWallet(await updateWallet(ctx, params.id, body)),
    }),
  }),
  endpoint({
    method: 'PUT',
    path: '/v1/w3s/developer/wallets/{id}/blockchains/{blockchain}',
    operationId: 'deriveWallet',
    summary: 'Make a wallet with the same address on another EVM blockchain',
    tag,
    auth: 'apiKey',
    params: deriveParams,
    body: deriveBody,
    response: walletAnswer,
    status: 201,
    errors: [
      'invalidRequest',
      'unauthorized',
      'idNotUuid',
      'walletNotFound',
      'walletFrozen',
      'walletLimitReached',
      'blockchainUnsupportedForOperation',
      'blockchainUnavailable',
      'keyOnOtherEnvironment',
    ],
    verb: deriveById,
  }),
  endpoint({
    method: 'PUT',
    path: '/v1/w3s/developer/wallets/derive',
    operationId: 'deriveWalletByAddress',
    summary: 'Make a wallet with the same address on another EVM blockchain, by address',
    tag,
    auth: 'apiKey',
    body: deriveByAddressBody,
    response: walletAnswer,
    status: 201,
    errors: [
      'invalidRequest',
      'unauthorized',
      'walletNotFound',
      'walletFrozen',
      'walletLimitReached',
      'blockchainUnsupportedForOperation',
      'blockchainUnavailable',
      'keyOnOtherEnvironment',
    ],
    verb: deriveByAddress,
  }),
]
