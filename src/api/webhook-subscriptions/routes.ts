import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { unsubscribeWebhook, updateWebhook } from '#engines/webhooks/index'
import { endpoint } from '#runtime/http/endpoint'
import { createWebhookSubscription, prepareWebhookSubscription } from './create-webhook-subscription.ts'
import { getWebhookKey } from './get-webhook-key.ts'
import { getWebhookSubscription, getWebhookSubscriptions } from './read-webhook-subscriptions.ts'
import {
  newWebhookSubscriptionSchema,
  publicKeyParams,
  publicKeySchema,
  webhookSubscriptionParams,
  webhookSubscriptionSchema,
  webhookSubscriptionUpdate,
} from './schema.ts'
import { showWebhookSubscription } from './show-webhook-subscription.ts'

const tag = 'Webhooks'

export const webhookSubscriptionEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v2/notifications/subscriptions',
    operationId: 'createWebhookSubscription',
    summary: 'Create a webhook subscription',
    description:
      'Subscribes an endpoint to notifications of wallets, after it answered HEAD and a signed test message of the type `webhooks.test`. An entity may have 20 subscriptions. A subscription of the same endpoint to the same types is returned instead of a second one.',
    tag,
    auth: 'apiKey',
    body: newWebhookSubscriptionSchema,
    response: webhookSubscriptionSchema,
    errors: ['endpointUnusable', 'subscriptionLimitReached'],
    prepare: (ctx: Ctx, { body }) => prepareWebhookSubscription(ctx, body),
    verb: (ctx: Ctx, { body }) => createWebhookSubscription(ctx, body),
  }),
  endpoint({
    method: 'GET',
    path: '/v2/notifications/subscriptions',
    operationId: 'listWebhookSubscriptions',
    summary: 'List webhook subscriptions',
    description: 'Lists all webhook subscriptions, newest first, without pages.',
    tag,
    auth: 'apiKey',
    response: Type.Array(webhookSubscriptionSchema, { description: 'The subscriptions, newest first.' }),
    errors: [],
    verb: (ctx: Ctx) => getWebhookSubscriptions(ctx),
  }),
  endpoint({
    method: 'GET',
    path: '/v2/notifications/subscriptions/{id}',
    operationId: 'getWebhookSubscription',
    summary: 'Get a webhook subscription',
    description: 'Returns one webhook subscription.',
    tag,
    auth: 'apiKey',
    params: webhookSubscriptionParams,
    response: webhookSubscriptionSchema,
    errors: ['subscriptionNotFound'],
    verb: (ctx: Ctx, { params }) => getWebhookSubscription(ctx, params.id),
  }),
  endpoint({
    method: 'PATCH',
    path: '/v2/notifications/subscriptions/{id}',
    operationId: 'updateWebhookSubscription',
    summary: 'Update a webhook subscription',
    description: 'Renames a webhook subscription, and disables or enables it.',
    tag,
    auth: 'apiKey',
    params: webhookSubscriptionParams,
    body: webhookSubscriptionUpdate,
    response: webhookSubscriptionSchema,
    errors: ['subscriptionNotFound'],
    verb: async (ctx: Ctx, { params, body }) =>
      showWebhookSubscription(await updateWebhook(ctx, params.id, 'entity', body)),
  }),
  endpoint({
    method: 'DELETE',
    path: '/v2/notifications/subscriptions/{id}',
    operationId: 'deleteWebhookSubscription',
    summary: 'Delete a webhook subscription',
    description: 'Deletes a webhook subscription and the notifications that wait for it.',
    tag,
    auth: 'apiKey',
    params: webhookSubscriptionParams,
    status: 204,
    errors: ['subscriptionNotFound'],
    verb: (ctx: Ctx, { params }) => unsubscribeWebhook(ctx, params.id, 'entity'),
  }),
  endpoint({
    method: 'GET',
    path: '/v2/notifications/publicKey/{id}',
    operationId: 'getWebhookKey',
    summary: 'Get the public key of webhooks',
    description:
      'Returns the keys that check the signatures of a webhook which names them in X-Circle-Key-Id.',
    tag,
    auth: 'apiKey',
    params: publicKeyParams,
    response: publicKeySchema,
    errors: ['webhookKeyNotFound'],
    verb: (ctx: Ctx, { params }) => getWebhookKey(ctx, params.id),
  }),
]
