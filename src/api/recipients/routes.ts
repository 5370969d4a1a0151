import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { changeRecipient } from './change-recipient.ts'
import { createRecipient } from './create-recipient.ts'
import { deleteRecipient } from './delete-recipient.ts'
import { getRecipient, listRecipients } from './read-recipients.ts'
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
    summary: 'Create a recipient',
    description:
      'Adds a recipient of payouts to the address book. It is reviewed first, and can be paid once its status is `active`.',
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
    errors: ['addressUnfitForChain', 'addressUnpayable', 'recipientNotFound'],
    verb: (ctx: Ctx, input) => createRecipient(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/addressBook/recipients',
    operationId: 'listRecipients',
    summary: 'List recipients',
    description: 'Lists the recipients of the address book, newest first.',
    tag,
    auth: 'apiKey',
    query: recipientFilters,
    response: Type.Array(recipientSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: ['addressUnfitForChain', 'addressUnpayable'],
    verb: (ctx: Ctx, input) => listRecipients(ctx, input),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/addressBook/recipients/{id}',
    operationId: 'getRecipient',
    summary: 'Get a recipient',
    description: 'Returns one recipient.',
    tag,
    auth: 'apiKey',
    params: recipientParams,
    response: recipientSchema,
    errors: ['recipientNotFound'],
    verb: (ctx: Ctx, { params }) => getRecipient(ctx, params.id),
  }),
  endpoint({
    method: 'PATCH',
    path: '/v1/addressBook/recipients/{id}',
    operationId: 'changeRecipient',
    summary: 'Change a recipient',
    description:
      'Changes the notes about a recipient, who is then reviewed again. The address cannot change.',
    tag,
    auth: 'apiKey',
    params: recipientParams,
    body: recipientChangesSchema,
    response: recipientSchema,
    errors: ['recipientNotFound'],
    verb: (ctx: Ctx, input) => changeRecipient(ctx, input),
  }),
  endpoint({
    method: 'DELETE',
    path: '/v1/addressBook/recipients/{id}',
    operationId: 'deleteRecipient',
    summary: 'Delete a recipient',
    description: 'Removes a recipient from the address book. Payouts to it that are under way go on.',
    tag,
    auth: 'apiKey',
    params: recipientParams,
    errors: ['recipientNotFound'],
    verb: (ctx: Ctx, { params }) => deleteRecipient(ctx, params.id),
  }),
]
