import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { deleteSubscription, listSubscriptions } from '#engines/webhooks/index'
import { endpoint } from '#runtime/http/endpoint'
import { createSubscription, probeEndpoint } from './create-subscription.ts'
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
    summary: 'Subscribe an endpoint to all notifications; it is asked to confirm two regions',
    tag,
    auth: 'apiKey',
    body: newSubscriptionSchema,
    response: subscriptionSchema,
    errors: ['invalidRequest', 'endpointUnusable', 'subscriptionLimitReached', 'unauthorized'],
    prepare: (ctx: Ctx, { body }) => probeEndpoint(ctx, body),
    verb: (ctx: Ctx, { body }) => createSubscription(ctx, body),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/notifications/subscriptions',
    operationId: 'listSubscriptions',
    summary: 'List all subscriptions, newest first',
    tag,
    auth: 'apiKey',
    response: Type.Array(subscriptionSchema),
    errors: ['unauthorized'],
    verb: async (ctx: Ctx) => (await listSubscriptions(ctx.db, ctx.entity.id)).map(showSubscription),
  }),
  endpoint({
    method: 'DELETE',
    path: '/v1/notifications/subscriptions/{id}',
    operationId: 'deleteSubscription',
    summary: 'Delete a subscription that does not wait to be confirmed',
    tag,
    auth: 'apiKey',
    params: subscriptionParams,
    response: Type.Object({}),
    errors: ['subscriptionNotFound', 'subscriptionPending', 'invalidRequest', 'unauthorized'],
    verb: async (ctx: Ctx, { params }) => {
      await deleteSubscription(ctx, params.id)
      return {}
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/notifications/confirm',
    operationId: 'confirmSubscription',
    summary: 'Confirm one region of a subscription: where its SubscribeURL leads',
    tag,
    auth: 'none',
    query: linkQuery,
    response: linkSchema,
    changing: true,
    errors: ['subscriptionLinkInvalid', 'invalidRequest'],
    verb: (ctx: Ctx, { query }) => confirmSubscription(ctx, query.Token),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/notifications/unsubscribe',
    operationId: 'unsubscribe',
    summary: 'End one region of a subscription: where the UnsubscribeURL of a notification leads',
    tag,
    auth: 'none',
    query: linkQuery,
    response: linkSchema,
    changing: true,
    errors: ['subscriptionLinkInvalid', 'invalidRequest'],
    verb: (ctx: Ctx, { query }) => endSubscription(ctx, query.Token),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/notifications/certificates/{name}',
    operationId: 'getSigningCertificate',
    summary: 'The certificate that notifications are signed with: where their SigningCertURL leads',
    tag,
    auth: 'none',
    params: certificateParams,
    response: Type.String(),
    enveloped: false,
    media: 'application/x-pem-file',
    errors: ['certificateNotFound', 'invalidRequest'],
    verb: (ctx: Ctx, { params }) => getCertificate(ctx, params.name),
  }),
]
