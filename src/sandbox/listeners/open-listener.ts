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

/** Subscribes a listener of both lines, and offers a session to the client. A refused one leaves nothing. */
export async function openListenerSession(
  ctx: SandboxCtx,
  parts: ListenerParts,
  name: string,
  { line = 'both', topics }: OpenListenerBody,
) {
  const { listeners, confirmations, database, urlOf } = parts
  for (const [index, topic] of (topics ?? []).entries()) requireTopic(topic, index)
  const lines = line === 'both' ? (['v1', 'v2'] as const) : ([line] as const)
  const isKnown = listeners.list().some((each) => each.name === name)
  const listener = listeners.make(name)
  const before = await subscriptionsOf(parts, name)
  // All topics are subscribed, and those chosen are passed on: a later choice so loses nothing that waits.
  const outcomes = await Promise.allSettled(
    lines.map((each) => subscribeOwnEndpoint({ ctx, database, confirmations }, urlOf(name), { line: each })),
  )
  const refused = outcomes.find((each) => each.status === 'rejected')
  if (refused) {
    await removeSubscriptions(ctx, parts, name, new Set(before.map(({ id }) => id)))
    if (!isKnown) listeners.remove(name)
    throw refused.reason
  }
  const subscriptions = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
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
export async function removeListener(ctx: SandboxCtx, parts: ListenerParts, name: string): Promise<void> {
  const isKnown = parts.listeners.remove(name)
  if (!isKnown && (await subscriptionsOf(parts, name)).length === 0)
    throw unknownListener(parts.listeners, name)
  await removeSubscriptions(ctx, parts, name)
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

/** The subscriptions of a listener, each with the operation that deletes it. */
async function subscriptionsOf(
  { database, urlOf }: ListenerParts,
  name: string,
): Promise<{ id: string; remove: string }[]> {
  const endpoint = urlOf(name)
  const db = database.readingFor(sandboxEntity.id)
  const [v1, v2] = [
    await listSubscriptions(db, sandboxEntity.id),
    await listWebhookSubscriptions(db, sandboxEntity.id),
  ]
  const own = (found: readonly { id: string; endpoint: string }[], remove: string) =>
    found.filter((each) => each.endpoint === endpoint).map(({ id }) => ({ id, remove }))
  return [...own(v1, 'deleteSubscription'), ...own(v2, 'deleteWebhookSubscription')]
}

async function removeSubscriptions(
  ctx: SandboxCtx,
  parts: ListenerParts,
  name: string,
  kept: ReadonlySet<string> = new Set(),
): Promise<void> {
  const { database } = parts
  for (const { id, remove } of await subscriptionsOf(parts, name))
    if (!kept.has(id)) await callOwn({ ctx, database }, remove, { params: { id } }).catch(unlessGone)
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
