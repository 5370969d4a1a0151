import Type from 'typebox'
import type { SandboxCtx } from '#api/sandbox-ctx'
import { endpoint } from '#runtime/http/endpoint'
import type { RequestScope } from '#runtime/scope'
import { type ListenerParts, listenersPath, openListenerSession, removeListener } from './open-listener.ts'
import { receiveDelivery } from './receive-delivery.ts'
import { reportAnswer } from './report-answer.ts'
import {
  answerBody,
  listenerParams,
  listenersSchema,
  openListenerBody,
  openListenerSchema,
  sessionQuery,
} from './schema.ts'

const tag = 'Sandbox'
const path = `${listenersPath}/{id}`
const common = { tag, auth: 'none', changing: false } as const

/** Operations of the listeners; they keep everything in memory, so that none of them needs a `tx` of its request. */
export const listenerEndpoints = (parts: ListenerParts) => [
  ...sessionEndpoints(parts),
  ...deliveryEndpoints(parts),
]

const sessionEndpoints = (parts: ListenerParts) => [
  endpoint({
    ...common,
    method: 'GET',
    path: listenersPath,
    operationId: 'listSandboxListeners',
    summary: 'List listeners',
    description: 'Lists the listeners, and whether a client reads what they receive.',
    response: listenersSchema,
    errors: [],
    verb: async () =>
      parts.listeners.list().map(({ name, current, waiting }) => ({
        id: name,
        isConnected: current?.stream !== undefined,
        waitingCount: waiting.size,
      })),
  }),
  endpoint({
    ...common,
    method: 'POST',
    path,
    operationId: 'openSandboxListener',
    summary: 'Open a listener',
    description:
      'Subscribes the listener to notifications of this sandbox, waits until it has confirmed them, and returns a session whose stream has the deliveries. The subscriptions stay when the client ends: what it misses is attempted again as for any endpoint, and at once when a client reads the stream again.',
    status: 201,
    params: listenerParams,
    body: openListenerBody,
    response: openListenerSchema,
    errors: ['endpointUnusable', 'subscriptionLimitReached', 'listenerLimitReached'],
    verb: (ctx: SandboxCtx, { params, body }) => openListenerSession(ctx, parts, params.id, body),
  }),
  endpoint({
    ...common,
    method: 'GET',
    path,
    operationId: 'streamSandboxDeliveries',
    summary: 'Stream the deliveries to a listener',
    description:
      'Sends each delivery as a server-sent event `delivery` with its exact headers and bytes. It waits for an answer as long as the platform waits for an endpoint. Opening the stream of a newer session ends this one with the event `replaced`.',
    params: listenerParams,
    query: sessionQuery,
    response: Type.String({ description: 'Server-sent events, and a comment every 15 seconds.' }),
    enveloped: false,
    media: 'text/event-stream',
    streams: true,
    errors: ['listenerNotFound', 'listenerTakenOver'],
    verb: (ctx: SandboxCtx, { params, query }) => parts.connect(ctx, params.id, query.session),
  }),
  endpoint({
    ...common,
    method: 'DELETE',
    path,
    operationId: 'deleteSandboxListener',
    summary: 'Delete a listener',
    description: 'Ends the stream and deletes the subscriptions of a listener, with what waits for it.',
    params: listenerParams,
    status: 204,
    errors: ['listenerNotFound', 'subscriptionPending'],
    verb: (ctx: SandboxCtx, { params }) => removeListener(ctx, parts, params.id),
  }),
]

const deliveryEndpoints = (parts: ListenerParts) => [
  endpoint({
    ...common,
    method: 'POST',
    path: `${path}/answers`,
    operationId: 'answerSandboxDelivery',
    summary: 'Answer a delivery',
    description:
      'Reports the answer of the endpoint that a delivery was passed on to: it becomes the attempt.',
    status: 204,
    params: listenerParams,
    body: answerBody,
    errors: ['listenerNotFound', 'deliveryNotWaiting'],
    verb: async (_: RequestScope, { params, body }) => reportAnswer(parts.listeners.find(params.id), body),
  }),
  ...(['GET', 'POST'] as const).map((method) =>
    endpoint({
      ...common,
      method,
      path: `${path}/deliveries`,
      operationId: `sendToSandboxListener${method === 'GET' ? 'ByGet' : ''}`,
      summary: `Send to a listener${method === 'GET' ? ' by GET' : ''}`,
      description: 'The endpoint of the subscriptions of a listener. It answers what the client reports.',
      raw: true,
      params: listenerParams,
      media: 'text/plain; charset=utf-8',
      response: Type.String({ description: 'The beginning of the answer.' }),
      errors: [],
      verb: (_: RequestScope, { params, arrived }) => receiveDelivery(parts, params.id, arrived),
    }),
  ),
]
