import Type from 'typebox'
import type { Ctx } from '#engines/ctx'
import { businessCollection } from '#runtime/collection/query'
import { endpoint } from '#runtime/http/endpoint'
import {
  notificationDetailSchema,
  notificationFilters,
  notificationParams,
  notificationSchema,
  replayBody,
  replayedParams,
  replayParams,
  replaySchema,
  resendNotificationBody,
} from './notification-schema.ts'
import { getNotification, listNotifications } from './read-notifications.ts'
import { getReplay, resend, sendRangeAgain } from './send-again.ts'

const tag = 'Operator'

/** The log of notifications and webhooks. Sending again needs a key with the scope `operator:write`. */
export const operatorNotificationEndpoints = [
  endpoint({
    method: 'GET',
    path: '/operator/notifications',
    operationId: 'listOperatorNotifications',
    summary: 'List notifications',
    description:
      'Lists the notifications of both lines with their deliveries, newest first. They are kept for 60 days, ended deliveries for 30.',
    tag,
    auth: 'operator:read',
    query: notificationFilters,
    response: Type.Array(notificationSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: [],
    verb: (ctx: Ctx, { query, page }) => listNotifications(ctx, query, page),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/notifications/{id}',
    operationId: 'getOperatorNotification',
    summary: 'Get a notification',
    description: 'Returns a notification with each attempt to deliver it: request, response and time.',
    tag,
    auth: 'operator:read',
    params: notificationParams,
    response: notificationDetailSchema,
    errors: ['notificationNotFound'],
    verb: (ctx: Ctx, { params }) => getNotification(ctx, params.id),
  }),
  endpoint({
    method: 'POST',
    path: '/operator/notifications/{id}/resend',
    operationId: 'resendOperatorNotification',
    summary: 'Resend a notification',
    description:
      'Sends a notification again under its id and with its text, also one that was delivered, failed, was dropped or was never queued for the subscription.',
    tag,
    auth: 'operator:write',
    params: notificationParams,
    body: resendNotificationBody,
    status: 202,
    response: Type.Object(
      { deliveries: notificationSchema.properties.deliveries },
      { description: 'The deliveries that wait now.' },
    ),
    errors: ['notificationNotFound', 'subscriptionNotFound', 'subscriptionReceivesNothing'],
    verb: (ctx: Ctx, { params, body }) => resend(ctx, params.id, body.subscriptionId),
  }),
  endpoint({
    method: 'POST',
    path: '/operator/subscriptions/{id}/replays',
    operationId: 'createOperatorReplay',
    summary: 'Replay notifications',
    description:
      'Sends the notifications of a range to one subscription again, at most 10,000. Later notifications of the same resources wait for theirs.',
    tag,
    auth: 'operator:write',
    params: replayedParams,
    body: replayBody,
    status: 202,
    response: replaySchema,
    errors: ['subscriptionNotFound', 'subscriptionReceivesNothing', 'replayTooLarge'],
    verb: (ctx: Ctx, { params, body }) => sendRangeAgain(ctx, params.id, body),
  }),
  endpoint({
    method: 'GET',
    path: '/operator/subscriptions/{id}/replays/{replayId}',
    operationId: 'getOperatorReplay',
    summary: 'Get a replay',
    description: 'Returns the progress of a replay.',
    tag,
    auth: 'operator:read',
    params: replayParams,
    response: replaySchema,
    errors: ['replayNotFound'],
    verb: (ctx: Ctx, { params }) => getReplay(ctx, params.id, params.replayId),
  }),
]
