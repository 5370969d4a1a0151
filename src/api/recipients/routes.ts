import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { changeRecipient } from './change-recipient.ts'
import { createRecipient } from './create-recipient.ts'
import { deleteRecipient } from './delete-recipient.ts'
import { getRecipient } from './get-recipient.ts'
import { listRecipients } from './list-recipients.ts'
import {
  newRecipientSchema,
  recipientChangesSchema,
  recipientFilters,
  recipientParams,
  recipientSchema,
} from './schema.ts'

const tag = 'Address book'

export const recipientEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/addressBook/recipients',
    operationId: 'createRecipient',
    summary: 'Write a recipient of payouts into the address book',
    tag,
    auth: 'apiKey',
    body: newRecipientSchema,
    response: recipientSchema,
    status: 201,
    idempotent: {
      conflict: 'conflict',
      replayStatus: 201,
      resourceIdOf: (recipient: { id: string }) => recipient.id,
      reload: (ctx: Ctx, id) => getRecipient(ctx, id),
    },
    errors: [
      'invalidRequest',
      'addressUnfitForChain',
      'addressUnpayable',
      'recipientNotFound',
      'unauthorized',
      'conflict',
    ],
    verb: (ctx: Ctx, input) => createRecipient(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/addressBook/recipients',
    operationId: 'listRecipients',
    summary: 'List the recipients of the address book',
    tag,
    auth: 'apiKey',
    query: recipientFilters,
    response: Type.Array(recipientSchema),
    collection: businessCollection,
    errors: [
      'invalidRequest',
      'addressUnfitForChain',
      'addressUnpayable',
      'cursorNotFound',
      'cursorNotUuid',
      'unauthorized',
    ],
    verb: (ctx: Ctx, input) => listRecipients(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/addressBook/recipients/{id}',
    operationId: 'getRecipient',
    summary: 'Get a recipient',
    tag,
    auth: 'apiKey',
    params: recipientParams,
    response: recipientSchema,
    errors: ['recipientNotFound', 'invalidRequest', 'unauthorized'],
    verb: (ctx: Ctx, { params }) => getRecipient(ctx, params.id),
  }),
  endpoint({
    method: 'PATCH',
    path: '/v1/addressBook/recipients/{id}',
    operationId: 'changeRecipient',
    summary: 'Change what is noted about a recipient; it is reviewed again',
    tag,
    auth: 'apiKey',
    params: recipientParams,
    body: recipientChangesSchema,
    response: recipientSchema,
    errors: ['invalidRequest', 'recipientNotFound', 'unauthorized'],
    verb: (ctx: Ctx, input) => changeRecipient(ctx, input),
  }),
  endpoint({
    method: 'DELETE',
    path: '/v1/addressBook/recipients/{id}',
    operationId: 'deleteRecipient',
    summary: 'Take a recipient out of the address book',
    tag,
    auth: 'apiKey',
    params: recipientParams,
    errors: ['recipientNotFound', 'invalidRequest', 'unauthorized'],
    verb: (ctx: Ctx, { params }) => deleteRecipient(ctx, params.id),
  }),
]
