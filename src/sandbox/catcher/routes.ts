import Type from 'typebox'
import type { SandboxCtx } from '#api/sandbox-ctx'
import { ApiError } from '#lib/errors'
import { businessCollection } from '#runtime/collection/query'
import type { Database } from '#runtime/db/db'
import { type Arrived, answer, type Endpoint, endpoint } from '#runtime/http/endpoint'
import type { RequestScope } from '#runtime/scope'
import { readBehaviour, showBehaviour, showInboxes } from './behaviour.ts'
import { type Catcher, catcherPath } from './catcher.ts'
import { forwardMessage } from './forward-message.ts'
import { usualBehaviour } from './inboxes.ts'
import { caughtMessage, listCaughtMessages, showMessage } from './read-messages.ts'
import {
  behaviourBody,
  behaviourSchema,
  caughtFilters,
  caughtMessageParams,
  caughtMessageSchema,
  forwardBody,
  forwardedSchema,
  inboxesSchema,
  inboxParams,
  inboxSubscriptionSchema,
  newInboxSubscription,
} from './schema.ts'
import { subscribeInbox } from './subscribe-inbox.ts'

const tag = 'Sandbox'
const path = `${catcherPath}/{inbox}`
const common = { tag, auth: 'none', changing: false } as const

/** Operations of the catcher; it keeps everything in memory, so that none of them needs a `tx`. */
export const catcherEndpoints = (catcher: Catcher, database: Database): readonly Endpoint<never>[] =>
  [
    ...(['GET', 'POST', 'PUT'] as const).map((method) => inboxEndpoint(catcher, method)),
    ...inboxEndpoints(catcher),
    ...messageEndpoints(catcher),
    endpoint({
      ...common,
      method: 'POST',
      path: `${path}/subscriptions`,
      operationId: 'subscribeSandboxInbox',
      summary: 'Subscribe an inbox',
      description:
        'Subscribes the inbox to notifications of this sandbox, and waits until it has confirmed them. The subscription is one like any other, also for its limits.',
      status: 201,
      params: inboxParams,
      body: newInboxSubscription,
      response: inboxSubscriptionSchema,
      errors: ['endpointUnusable', 'subscriptionLimitReached', 'inboxLimitReached'],
      verb: (ctx: SandboxCtx, { params, body }) =>
        subscribeInbox({ ctx, database }, catcher, params.inbox, body),
    }),
  ] as Endpoint<never>[]

/** Takes any request to an inbox, and answers as it is told to. */
const inboxEndpoint = (catcher: Catcher, method: 'GET' | 'POST' | 'PUT') =>
  endpoint({
    ...common,
    method,
    path,
    operationId: `sendToSandboxInbox${{ GET: 'ByGet', POST: '', PUT: 'ByPut' }[method]}`,
    summary: `Send to an inbox${method === 'POST' ? '' : ` by ${method}`}`,
    description:
      'Takes a request of any kind, of up to a megabyte, keeps it and answers by the behaviour of the inbox, usually with 200.',
    raw: true,
    params: inboxParams,
    media: 'text/plain; charset=utf-8',
    response: Type.String({ description: 'The text of the behaviour.' }),
    errors: ['inboxLimitReached'],
    verb: (ctx: RequestScope, { params, arrived }) => take(ctx, catcher, params.inbox, arrived),
  })

async function take(ctx: RequestScope, catcher: Catcher, name: string, arrived: Arrived) {
  const { behaviour } = catcher.inboxes.open(name)
  const isCrowded = behaviour.delayMs > 0 && catcher.delays.isCrowded()
  if (isCrowded) throw new ApiError('tooManyRequests', 'Too many answers are delayed: try again in a moment.')
  const { answeredStatus } = catcher.receive(name, arrived, ctx.clock.nowMs())
  await catcher.delays.until(() => false, behaviour.delayMs)
  return answer(answeredStatus, behaviour.body)
}

const inboxEndpoints = (catcher: Catcher) => [
  endpoint({
    ...common,
    method: 'GET',
    path: catcherPath,
    operationId: 'getSandboxCatcher',
    summary: 'List inboxes',
    description: 'Lists the inboxes of the catcher, with what they keep and how they answer.',
    response: inboxesSchema,
    errors: [],
    verb: async () => showInboxes(catcher),
  }),
  endpoint({
    ...common,
    method: 'DELETE',
    path,
    operationId: 'deleteSandboxInbox',
    summary: 'Delete an inbox',
    description: 'Deletes an inbox with its messages and its behaviour. A later message makes it anew.',
    params: inboxParams,
    status: 204,
    errors: [],
    verb: async (_: RequestScope, { params }) => catcher.inboxes.remove(params.inbox),
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: `${path}/behaviour`,
    operationId: 'getSandboxInboxBehaviour',
    summary: 'Get the behaviour of an inbox',
    description: 'Returns how the inbox answers.',
    params: inboxParams,
    response: behaviourSchema,
    errors: [],
    verb: async (_: RequestScope, { params }) => showBehaviour(catcher.inboxes.find(params.inbox)),
  }),
  endpoint({
    ...common,
    method: 'PUT',
    path: `${path}/behaviour`,
    operationId: 'setSandboxInboxBehaviour',
    summary: 'Set the behaviour of an inbox',
    description:
      'Sets how the inbox answers from now on: with one status, or with a sequence of which each POST or PUT uses up one, and whose last one holds. GET and HEAD are answered alike and use up none.',
    params: inboxParams,
    body: behaviourBody,
    response: behaviourSchema,
    errors: ['inboxLimitReached'],
    verb: async (_: RequestScope, { params, body }) =>
      showBehaviour(catcher.inboxes.behave(params.inbox, readBehaviour(body))),
  }),
  endpoint({
    ...common,
    method: 'DELETE',
    path: `${path}/behaviour`,
    operationId: 'resetSandboxInboxBehaviour',
    summary: 'Reset the behaviour of an inbox',
    description: 'Lets the inbox answer 200 at once again.',
    params: inboxParams,
    response: behaviourSchema,
    errors: ['inboxLimitReached'],
    verb: async (_: RequestScope, { params }) =>
      showBehaviour(catcher.inboxes.behave(params.inbox, usualBehaviour)),
  }),
]

const messageEndpoints = (catcher: Catcher) => [
  endpoint({
    ...common,
    method: 'GET',
    path: `${path}/messages`,
    operationId: 'listSandboxMessages',
    summary: 'List the messages of an inbox',
    description:
      'Lists what an inbox received, newest first; `from` and `to` compare `receivedDate`. With `wait`, a request for the first page waits for a message.',
    params: inboxParams,
    query: caughtFilters,
    response: Type.Array(caughtMessageSchema, { description: 'One page, newest first.' }),
    collection: businessCollection,
    errors: ['caughtMessageNotFound'],
    verb: (ctx: RequestScope, { params, query, page }) =>
      listCaughtMessages(ctx, catcher, params.inbox, query, page),
  }),
  endpoint({
    ...common,
    method: 'DELETE',
    path: `${path}/messages`,
    operationId: 'clearSandboxMessages',
    summary: 'Clear the messages of an inbox',
    description: 'Forgets the messages of an inbox. Its behaviour and its subscriptions stay.',
    params: inboxParams,
    status: 204,
    errors: [],
    verb: async (_: RequestScope, { params }) => catcher.inboxes.clear(params.inbox),
  }),
  endpoint({
    ...common,
    method: 'GET',
    path: `${path}/messages/{id}`,
    operationId: 'getSandboxMessage',
    summary: 'Get a message of an inbox',
    description: 'Returns one message with its whole body.',
    params: caughtMessageParams,
    response: caughtMessageSchema,
    errors: ['caughtMessageNotFound'],
    verb: async (ctx: RequestScope, { params }) =>
      showMessage(ctx, catcher, caughtMessage(catcher, params.inbox, params.id)),
  }),
  endpoint({
    ...common,
    method: 'POST',
    path: `${path}/messages/{id}/forward`,
    operationId: 'forwardSandboxMessage',
    summary: 'Forward a message of an inbox',
    description:
      'Sends the method, the headers, the query and the bytes of a message to another address, and returns what that answers.',
    params: caughtMessageParams,
    body: forwardBody,
    response: forwardedSchema,
    errors: ['caughtMessageNotFound'],
    verb: (ctx: SandboxCtx, { params, body }) =>
      forwardMessage(ctx, caughtMessage(catcher, params.inbox, params.id), body.url),
  }),
]
