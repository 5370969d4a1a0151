import { makeLoggedRequest } from '#testing/builders/logged-requests'
import {
  certificateName,
  makeLinkToken,
  makeNotification,
  makePermissionlessSubscription,
  makeSubscription,
  makeWebhookSubscription,
  permissionlessBody,
  webhookEndpoint,
} from '#testing/builders/subscriptions'
import type { World } from '#testing/builders/world'
import type { RequestSamples } from './sample-request.ts'

const nothing: RequestSamples = { request: async () => ({}) }
const byId = (find: (world: World) => Promise<{ id: string }>): RequestSamples => ({
  request: async (world) => ({ params: { id: (await find(world)).id } }),
})

/** Sample requests for subscriptions of both lines, and for the log of their notifications. */
export const notificationRequests: Record<string, RequestSamples> = {
  'POST /v1/notifications/subscriptions': {
    request: async () => ({ body: { endpoint: await webhookEndpoint('exemplary') } }),
  },
  'GET /v1/notifications/subscriptions': nothing,
  'DELETE /v1/notifications/subscriptions/{id}': byId((world) => makeSubscription(world, 'deleted')),
  'POST /v2/notifications/subscriptions': {
    request: async () => ({
      body: { endpoint: await webhookEndpoint('exemplary'), notificationTypes: ['transactions.*'] },
    }),
  },
  'GET /v2/notifications/subscriptions': nothing,
  'GET /v2/notifications/subscriptions/{id}': byId((world) => makeWebhookSubscription(world, 'read')),
  'PATCH /v2/notifications/subscriptions/{id}': {
    request: async (world) => ({
      params: { id: (await makeWebhookSubscription(world, 'changed')).id },
      body: { name: 'Renamed', enabled: false },
    }),
  },
  'DELETE /v2/notifications/subscriptions/{id}': byId((world) => makeWebhookSubscription(world, 'deleted')),
  'POST /v2/notifications/subscriptions/permissionless': {
    request: async (world) => ({ body: await permissionlessBody(world, 'watching') }),
  },
  'GET /v2/notifications/subscriptions/permissionless': nothing,
  'GET /v2/notifications/subscriptions/permissionless/{id}': byId((world) =>
    makePermissionlessSubscription(world, 'read'),
  ),
  'PATCH /v2/notifications/subscriptions/permissionless/{id}': {
    request: async (world) => ({
      params: { id: (await makePermissionlessSubscription(world, 'changed')).id },
      body: { name: 'Renamed', enabled: false },
    }),
  },
  'DELETE /v2/notifications/subscriptions/permissionless/{id}': byId((world) =>
    makePermissionlessSubscription(world, 'deleted'),
  ),
  'GET /v2/notifications/publicKey/{id}': byId(async ({ harness }) => ({
    id: await harness.ctx.custody.webhookSigner.keyId(),
  })),
  'GET /operator/requests': nothing,
  'GET /operator/requests/{id}': byId((world) => makeLoggedRequest(world)),
  'GET /operator/notifications': nothing,
  'GET /operator/notifications/{id}': byId((world) => makeNotification(world)),
  'POST /operator/notifications/{id}/resend': {
    request: async (world) => ({
      params: { id: (await makeNotification(world)).id },
      body: { subscriptionId: (await makeWebhookSubscription(world, 'resent')).id },
    }),
  },
  'POST /operator/subscriptions/{id}/replays': {
    request: async (world) => ({
      params: { id: (await makeWebhookSubscription(world, 'replayed')).id },
      body: { from: '2026-01-01T00:00:00Z', state: 'all' },
    }),
  },
  'GET /operator/subscriptions/{id}/replays/{replayId}': {
    request: async (world) => {
      const { id } = await makeWebhookSubscription(world, 'replayed')
      const range = { from: '2026-01-01T00:00:00Z', state: 'missing' }
      const { id: replayId } = await world.call('POST', `/operator/subscriptions/${id}/replays`, range)
      return { params: { id, replayId } }
    },
  },
  'GET /v1/notifications/confirm': {
    request: async (world) => ({ query: { Token: await makeLinkToken(world, 'confirm') } }),
  },
  'GET /v1/notifications/unsubscribe': {
    request: async (world) => ({ query: { Token: await makeLinkToken(world, 'unsubscribe') } }),
  },
  'GET /v1/notifications/certificates/{name}': {
    request: async (world) => ({ params: { name: await certificateName(world) } }),
  },
}
