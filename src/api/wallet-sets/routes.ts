import { openSecretOf, spendCiphertext } from '#custody/index'
import { createWalletSet, findWalletSet, listWalletSets, updateWalletSet } from '#custody/wallets/index'
import type { Ctx } from '#engines/ctx'
import { notFound } from '#lib/errors'
import { orderedWalletCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import {
  createWalletSetBody,
  showWalletSet,
  updateWalletSetBody,
  walletSetAnswer,
  walletSetParams,
  walletSetsAnswer,
} from './schema.ts'

const tag = 'Wallet sets'

async function getWalletSet(ctx: Ctx, id: string) {
  const set = await findWalletSet(ctx.db, ctx.entity.id, id)
  if (!set) throw notFound('wallet set', id, 'walletSetNotFound')
  return { walletSet: showWalletSet(set) }
}

export const walletSetEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/w3s/developer/walletSets',
    operationId: 'createWalletSet',
    summary: 'Create a wallet set',
    description: 'Creates a group of wallets with a seed of its own, sealed with the entity secret.',
    tag,
    auth: 'apiKey',
    body: createWalletSetBody,
    response: walletSetAnswer,
    status: 201,
    idempotent: {
      conflict: 'idempotencyKeyReused',
      resourceIdOf: (result: { walletSet: { id: string } }) => result.walletSet.id,
      reload: getWalletSet,
    },
    errors: ['entitySecretWrong', 'ciphertextReused', 'entitySecretMissing'],
    prepare: (ctx: Ctx, input) => openSecretOf(ctx, input),
    verb: async (ctx: Ctx, { body }, secret) => {
      await spendCiphertext(ctx, secret)
      return { walletSet: showWalletSet(await createWalletSet(ctx, secret, body)) }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/walletSets',
    operationId: 'listWalletSets',
    summary: 'List wallet sets',
    description: 'Lists the wallet sets of the entity, newest first.',
    tag,
    auth: 'apiKey',
    response: walletSetsAnswer,
    collection: { ...orderedWalletCollection, items: 'walletSets' },
    errors: [],
    verb: async (ctx: Ctx, { page }) => {
      const found = await listWalletSets(ctx.db, ctx.entity.id, page)
      return { found, items: found.rows.map(showWalletSet) }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/w3s/walletSets/{id}',
    operationId: 'getWalletSet',
    summary: 'Get a wallet set',
    description: 'Returns one wallet set.',
    tag,
    auth: 'apiKey',
    params: walletSetParams,
    response: walletSetAnswer,
    errors: ['idNotUuid', 'walletSetNotFound'],
    verb: (ctx: Ctx, { params }) => getWalletSet(ctx, params.id),
  }),
  endpoint({
    method: 'PUT',
    path: '/v1/w3s/developer/walletSets/{id}',
    operationId: 'updateWalletSet',
    summary: 'Rename a wallet set',
    description: 'Changes the name of a wallet set.',
    tag,
    auth: 'apiKey',
    params: walletSetParams,
    body: updateWalletSetBody,
    response: walletSetAnswer,
    errors: ['idNotUuid', 'walletSetNotFound'],
    verb: async (ctx: Ctx, { params, body }) => ({
      walletSet: showWalletSet(await updateWalletSet(ctx, params.id, body)),
    }),
  }),
]
