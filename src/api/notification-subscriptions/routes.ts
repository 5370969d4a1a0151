import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { deleteSubscription, listSubscriptions } from '#engines/webhooks/index'
import { endpoint } from '#runtime/http/endpoint'
import { createSubscription, prepareSubscription } from './create-subscription.ts'
import { confirmSubscription, endSubscription } from './follow-link.ts'
import { getCertificate } from './get-certificate.ts'
import {
  certificateParams,
  linkQuery,
  linkSchema,
  newSubscriptionSchema,
  subscriptionParams,
  subscriptionSchema,
} from './schema.ts'
import { showSubscription } from './show-subscription.ts'

const tag = 'Notifications'

export const subscriptionEndpoints = [
  endpoint({
    method: 'POST',
    path: '/v1/notifications/subscriptions',
    operationId: 'createSubscription',
    summary: 'Create a subscription',
    description:
      'Subscribes an endpoint to all notifications. It gets two messages with a SubscribeURL, one for each region; open both to confirm.',
    tag,
    auth: 'apiKey',
    body: newSubscriptionSchema,
    response: subscriptionSchema,
    errors: ['endpointUnusable', 'subscriptionLimitReached'],
    prepare: (ctx: Ctx, { body }) => prepareSubscription(ctx, body),
    verb: (ctx: Ctx, { body }) => createSubscription(ctx, body),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/notifications/subscriptions',
    operationId: 'listSubscriptions',
    summary: 'List subscriptions',
    description: 'Lists all subscriptions, newest first, without pages.',
    tag,
    auth: 'apiKey',
    response: Type.Array(subscriptionSchema, { description: 'The subscriptions, newest first.' }),
    errors: [],
    verb: async (ctx: Ctx) => (await listSubscriptions(ctx.db, ctx.entity.id)).map(showSubscription),
  }),
  endpoint({
    method: 'DELETE',
    path: '/v1/notifications/subscriptions/{id}',
    operationId: 'deleteSubscription',
    summary: 'Delete a subscription',
    description: 'Deletes a subscription, unless one of its regions waits to be confirmed.',
    tag,
    auth: 'apiKey',
    params: subscriptionParams,
    response: Type.Object({}, { description: 'An empty object.' }),
    errors: ['subscriptionNotFound', 'subscriptionPending'],
    verb: async (ctx: Ctx, { params }) => {
      await deleteSubscription(ctx, params.id)
      return {}
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/notifications/confirm',
    operationId: 'confirmSubscription',
    summary: 'Confirm a subscription',
    description:
      'Confirms one region of a subscription. The SubscribeURL of a message leads here. Needs no key: the token is the authorization.',
    tag,
    auth: 'none',
    query: linkQuery,
    response: linkSchema,
    changing: true,
    errors: ['subscriptionLinkInvalid'],
    verb: (ctx: Ctx, { query }) => confirmSubscription(ctx, query.Token),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/notifications/unsubscribe',
    operationId: 'unsubscribe',
    summary: 'End a subscription',
    description:
      'Ends one region of a subscription. The UnsubscribeURL of a notification leads here. Needs no key: the token is the authorization.',
    tag,
    auth: 'none',
    query: linkQuery,
    response: linkSchema,
    changing: true,
    errors: ['subscriptionLinkInvalid'],
    verb: (ctx: Ctx, { query }) => endSubscription(ctx, query.Token),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/notifications/certificates/{name}',
    operationId: 'getSigningCertificate',
    summary: 'Get a signing certificate',
    description:
      'Returns the certificate that notifications are signed with. Their SigningCertURL leads here. Needs no key.',
    tag,
    auth: 'none',
    params: certificateParams,
    response: Type.String({ description: 'The certificate as PEM.' }),
    enveloped: false,
    media: 'application/x-pem-file',
    errors: ['certificateNotFound'],
    verb: (ctx: Ctx, { params }) => getCertificate(ctx, params.name),
  }),
]
