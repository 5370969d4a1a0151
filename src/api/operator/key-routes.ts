import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import { createKey, getKey, listKeys, revokeKey } from './api-keys.ts'
import { apiKeyBody, apiKeyParams, apiKeySchema, createdKeySchema } from './key-schema.ts'

const tag = 'Operator'

/** The keys of an entity. Changing them needs a key with the scope `operator:write`. */
export const operatorKeyEndpoints = [
  endpoint({
    method: 'GET',
    path: '/operator/apiKeys',
    operationId: 'listOperatorApiKeys',
    summary: 'List API keys',
    description:
      'Lists the keys of the entity without their secrets, newest first; revoked ones stay listed.',
    tag,
    auth: 'operator:read',
    response: Type.Array(apiKeySchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, { page }) => listKeys(ctx, page),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/apiKeys/{id}',
    operationId: 'getOperatorApiKey',
    summary: 'Get an API key',
    description: 'Returns a key without its secret.',
    tag,
    auth: 'operator:read',
    params: apiKeyParams,
    response: apiKeySchema,
    errors: ['apiKeyNotFound'],
    verb: (ctx: Ctx, { params }) => getKey(ctx, params.id),
  }),
  endpoint({
    method: 'POST',
    path: '/operator/apiKeys',
    operationId: 'createOperatorApiKey',
    summary: 'Create an API key',
    description:
      'Creates a key, and shows it this once. It has no scope that the key of the request lacks, does not outlive it, and may be used nowhere else; a client key needs one of the scope api. When the answer is lost, revoke the newest key of the list and create another one.',
    tag,
    auth: 'operator:write',
    body: apiKeyBody,
    status: 201,
    response: createdKeySchema,
    errors: ['apiKeyScopeMissing', 'apiKeyLimitsExceeded'],
    verb: (ctx: Ctx, { body }) => createKey(ctx, body),
  }),
  endpoint({
    method: 'DELETE',
    path: '/operator/apiKeys/{id}',
    operationId: 'revokeOperatorApiKey',
    summary: 'Revoke an API key',
    description:
      'Revokes a key: it stops working within a second. The key of the request cannot revoke itself, so that one key at least is left. A key that is revoked already stays revoked.',
    tag,
    auth: 'operator:write',
    params: apiKeyParams,
    status: 204,
    errors: ['apiKeyNotFound', 'apiKeyInUse'],
    verb: (ctx: Ctx, { params }) => revokeKey(ctx, params.id),
  }),
]
