import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { unsubscribeWebhook } from '#engines/webhooks/index'
import { endpoint } from '#runtime/http/endpoint'
import { prepareWebhookSubscription } from './create-webhook-subscription.ts'
import {
  createPermissionlessSubscription,
  getPermissionlessSubscription,
  getPermissionlessSubscriptions,
  updatePermissionlessSubscription,
} from './permissionless.ts'
import {
  newPermissionlessSubscriptionSchema,
  permissionlessSubscriptionSchema,
  permissionlessSubscriptionsQuery,
  permissionlessSubscriptionUpdate,
} from './permissionless-schema.ts'
import { webhookSubscriptionParams } from './schema.ts'

const shared = { tag: 'Webhooks', auth: 'apiKey' } as const
const path = '/v2/notifications/subscriptions/permissionless'

export const permissionlessSubscriptionEndpoints = [
  endpoint({
    ...shared,
    method: 'POST',
    path,
    operationId: 'createPermissionlessSubscription',
    summary: 'Subscribe to unified balances of addresses',
    description:
      'Subscribes an endpoint to the final deposits and mints of up to 50 addresses, anyone’s, after it answered HEAD and a signed test message. They count among the 20 webhook subscriptions of an entity. A subscription of the same endpoint with the same filters is returned instead of a second one.',
    body: newPermissionlessSubscriptionSchema,
    response: permissionlessSubscriptionSchema,
    errors: ['endpointUnusable', 'subscriptionLimitReached', 'unifiedDomainUnknown'],
    prepare: (ctx: Ctx, { body }) => prepareWebhookSubscription(ctx, body),
    verb: (ctx: Ctx, { body }) => createPermissionlessSubscription(ctx, body),
  }),
  endpoint({
    ...shared,
    method: 'GET',
    path,
    operationId: 'listPermissionlessSubscriptions',
    summary: 'List subscriptions to unified balances',
    description: 'Lists all subscriptions to unified balances, newest first, without pages.',
    query: permissionlessSubscriptionsQuery,
    response: Type.Array(permissionlessSubscriptionSchema, {
      description: 'The subscriptions, newest first.',
    }),
    errors: [],
    verb: (ctx: Ctx, { query }) => getPermissionlessSubscriptions(ctx, query),
  }),
  endpoint({
    ...shared,
    method: 'GET',
    path: `${path}/{id}`,
    operationId: 'getPermissionlessSubscription',
    summary: 'Get a subscription to unified balances',
    description: 'Returns one subscription to unified balances.',
    params: webhookSubscriptionParams,
    response: permissionlessSubscriptionSchema,
    errors: ['subscriptionNotFound'],
    verb: (ctx: Ctx, { params }) => getPermissionlessSubscription(ctx, params.id),
  }),
  endpoint({
    ...shared,
    method: 'PATCH',
    path: `${path}/{id}`,
    operationId: 'updatePermissionlessSubscription',
    summary: 'Update a subscription to unified balances',
    description:
      'Renames a subscription, disables or enables it, or replaces its types, addresses and domains together. What was queued before is sent all the same.',
    params: webhookSubscriptionParams,
    body: permissionlessSubscriptionUpdate,
    response: permissionlessSubscriptionSchema,
    errors: ['subscriptionNotFound', 'unifiedDomainUnknown'],
    verb: (ctx: Ctx, { params, body }) => updatePermissionlessSubscription(ctx, params.id, body),
  }),
  endpoint({
    ...shared,
    method: 'DELETE',
    path: `${path}/{id}`,
    operationId: 'deletePermissionlessSubscription',
    summary: 'Delete a subscription to unified balances',
    description: 'Deletes a subscription to unified balances and the notifications that wait for it.',
    params: webhookSubscriptionParams,
    status: 204,
    errors: ['subscriptionNotFound'],
    verb: (ctx: Ctx, { params }) => unsubscribeWebhook(ctx, params.id, 'addresses'),
  }),
]
