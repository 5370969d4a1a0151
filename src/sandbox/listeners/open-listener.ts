import type { Readable } from 'node:stream'
import { topics as ownTopics } from '#api/index'
import type { SandboxCtx } from '#api/sandbox-ctx'
import {
  hastenDeliveries,
  listSubscriptions,
  listWebhookSubscriptions,
  notificationTypes,
} from '#engines/webhooks/index'
import { ApiError, invalid } from '#lib/errors'
import { suggest } from '#lib/suggest'
import { formatInstant } from '#lib/time'
import type { Database } from '#runtime/db/db'
import type { Log } from '#runtime/log/log'
import type { Confirmations } from '../catcher/confirm-subscription.ts'
import { callOwn, subscribeOwnEndpoint } from '../catcher/subscribe-inbox.ts'
import { sandboxEntity } from '../credentials.ts'
import type { Listeners } from './listeners.ts'
import type { OpenListenerBody } from './schema.ts'

export const listenersPath = '/sandbox/listeners'

export type ListenerParts = {
  listeners: Listeners
  confirmations: Confirmations
  database: Database
  log: Log
  urlOf(name: string): string
  /** Opens the stream of a session, and lets what waits for the listener be attempted at once. */
  connect(ctx: SandboxCtx, name: string, session: string): Promise<Readable>
}

/** Subscribes a listener of both lines, and offers a session to the client. */
export async function openListenerSession(
  ctx: SandboxCtx,
  { listeners, confirmations, database, urlOf }: ListenerParts,
  name: string,
  { line = 'both', topics }: OpenListenerBody,
) {
  for (const [index, topic] of (topics ?? []).entries()) requireTopic(topic, index)
  const lines = line === 'both' ? (['v1', 'v2'] as const) : ([line] as const)
  const listener = listeners.make(name)
  // All topics are subscribed, and those chosen are passed on: a later choice so loses nothing that waits.
  const subscriptions = await Promise.all(
    lines.map((each) => subscribeOwnEndpoint({ ctx, database, confirmations }, urlOf(name), { line: each })),
  )
  return { id: name, session: listeners.offer(listener, { lines, topics }), subscriptions }
}

const v1Names = Object.values(ownTopics).flatMap((topic) => (topic.line === 'v1' ? [topic.name] : []))
const topicNames: readonly string[] = [...v1Names, ...notificationTypes]

function requireTopic(topic: string, index: number): void {
  if (topicNames.includes(topic)) return
  throw invalid({
    at: `topics[${index}]`,
    reason: `is no topic${suggest(topic, topicNames) || `: choose from ${topicNames.join(', ')}`}`,
    value: topic,
  })
}

/** Deletes the subscriptions of a listener; a sandbox that was started again knows a listener by them alone. */
export async function removeListener(
  ctx: SandboxCtx,
  { listeners, database, urlOf }: ListenerParts,
  name: string,
): Promise<void> {
  const isKnown = listeners.remove(name)
  const endpoint = urlOf(name)
  const db = database.readingFor(sandboxEntity.id)
  const own = [
    ...(await listSubscriptions(db, sandboxEntity.id)).map((each) => ({
      ...each,
      operation: 'deleteSubscription',
    })),
    ...(await listWebhookSubscriptions(db, sandboxEntity.id)).map((each) => ({
      ...each,
      operation: 'deleteWebhookSubscription',
    })),
  ].filter((each) => each.endpoint === endpoint)
  if (!isKnown && own.length === 0) throw unknownListener(listeners, name)
  for (const { operation, id } of own)
    await callOwn({ ctx, database }, operation, { params: { id } }).catch(unlessGone)
}

function unknownListener(listeners: ListenerParts['listeners'], name: string): Error {
  const names = listeners.list().map((each) => each.name)
  const known = names.length === 0 ? '' : `: its listeners are ${names.join(', ')}`
  return invalid({
    at: 'id',
    reason: `is no listener of this sandbox${suggest(name, names) || known}`,
    value: name,
    kind: 'listenerNotFound',
  })
}

const unlessGone = (error: unknown) => {
  if (error instanceof ApiError && error.kind === 'subscriptionNotFound') return
  throw error
}

/** Lets what waits for the endpoint of a listener be attempted at once. */
export const hastenListener = async (
  { clock }: Pick<SandboxCtx, 'clock'>,
  database: Database,
  endpoint: string,
): Promise<void> => {
  const at = formatInstant(clock.nowMs())
  await database.onBehalfOf(sandboxEntity.id).tx((tx) => hastenDeliveries(tx, sandboxEntity.id, endpoint, at))
}
