import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { findRecipientAddress, listRecipientAddresses, removeRecipientAddress } from '#engines/treasury/index'
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
    summary: 'Store an address of yours elsewhere, to withdraw to',
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
      'invalidRequest',
      'addressUnfitForChain',
      'addressUnpayable',
      'chainUnfitForCurrency',
      'recipientAddressExists',
      'identityTypeInvalid',
      'countryInvalid',
      'districtInvalid',
      'recipientAddressNotFound',
      'unauthorized',
      'conflict',
    ],
    verb: (ctx: Ctx, input) => createRecipientAddress(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path,
    operationId: 'listRecipientAddresses',
    summary: 'List the stored addresses that are verified',
    tag,
    auth: 'apiKey',
    response: Type.Array(recipientAddressSchema),
    collection: businessCollection,
    errors: ['invalidRequest', 'cursorNotFound', 'cursorNotUuid', 'unauthorized'],
    verb: async (ctx: Ctx, { page }) => {
      const found = await listRecipientAddresses(ctx.db, ctx.entity.id, page)
      return { found, items: found.rows.map(showRecipientAddress) }
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/{id}`,
    operationId: 'deleteRecipientAddress',
    summary: 'Delete a stored address',
    tag,
    auth: 'apiKey',
    params: recipientAddressParams,
    errors: ['recipientAddressNotFound', 'recipientAddressHeld', 'invalidRequest', 'unauthorized'],
    verb: (ctx: Ctx, { params }) =>
      removeRecipientAddress(ctx, {
        entityId: ctx.entity.id,
        actor: ctx.actor,
        requestId: ctx.requestId,
        id: params.id,
      }),
  }),
]
