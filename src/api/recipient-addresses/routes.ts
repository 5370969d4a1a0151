import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import {
  findRecipientAddress,
  listRecipientAddresses,
  removeRecipientAddress,
} from '#engines/treasury/address-book/index'
import { ApiError } from '#lib/errors'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { createRecipientAddress } from './create-recipient-address.ts'
import { newRecipientAddressSchema, recipientAddressParams, recipientAddressSchema } from './schema.ts'
import { showRecipientAddress } from './show-recipient-address.ts'

const tag = 'Recipient addresses'
const path = '/v1/businessAccount/wallets/addresses/recipient'

export const recipientAddressEndpoints = [
  endpoint({
    method: 'POST',
    path,
    operationId: 'createRecipientAddress',
    summary: 'Create a recipient address',
    description:
      'Stores an address of your own elsewhere. Transfers can go to it once its status is `active`.',
    tag,
    auth: 'apiKey',
    body: newRecipientAddressSchema,
    response: recipientAddressSchema,
    idempotent: {
      conflict: 'conflict',
      resourceIdOf: (stored: { id: string }) => stored.id,
      reload: async (ctx: Ctx, id) => {
        const stored = await findRecipientAddress(ctx.db, ctx.entity.id, id)
        if (!stored) throw new ApiError('recipientAddressNotFound')
        return showRecipientAddress(stored)
      },
    },
    errors: [
      'addressUnfitForChain',
      'addressUnpayable',
      'chainUnfitForCurrency',
      'recipientAddressExists',
      'identityTypeInvalid',
      'countryInvalid',
      'districtInvalid',
      'recipientAddressNotFound',
    ],
    verb: (ctx: Ctx, input) => createRecipientAddress(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path,
    operationId: 'listRecipientAddresses',
    summary: 'List recipient addresses',
    description: 'Lists the verified recipient addresses, newest first.',
    tag,
    auth: 'apiKey',
    response: Type.Array(recipientAddressSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: async (ctx: Ctx, { page }) => {
      const found = await listRecipientAddresses(ctx.db, ctx.entity.id, page)
      return { found, items: found.rows.map(showRecipientAddress) }
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/{id}`,
    operationId: 'deleteRecipientAddress',
    summary: 'Delete a recipient address',
    description:
      'Deletes a recipient address. One that is held back after its verification cannot be deleted.',
    tag,
    auth: 'apiKey',
    params: recipientAddressParams,
    errors: ['recipientAddressNotFound', 'recipientAddressHeld'],
    verb: (ctx: Ctx, { params }) =>
      removeRecipientAddress(ctx, {
        entityId: ctx.entity.id,
        actor: ctx.actor,
        requestId: ctx.requestId,
        id: params.id,
      }),
  }),
]
