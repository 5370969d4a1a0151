/**
 * Inboxes, with the way in which they answer, and their messages, all in memory. Messages are bounded in number and in bytes
 * over all inboxes; the oldest is dropped for a new one.
 */
import { ApiError } from '#lib/errors'
import { newId } from '#lib/ids'
import type { Arrived } from '#runtime/http/endpoint'
import { type OwnMessage, readOwnMessage } from './own-message.ts'

/** The statuses of the next answers, one for each message; the last one holds. */
export type InboxBehaviour = {
  statuses: readonly number[]
  isSequence: boolean
  delayMs: number
  body: string
}

export type SignatureVerdict = { state: 'valid' | 'invalid' | 'absent'; reason: string }

/** The outcome of visiting the SubscribeURL of a message. */
export type Confirmation = { state: 'confirmed' | 'refused' | 'failed'; reason: string }

export type CaughtMessage = Arrived & {
  id: string
  inbox: string
  receivedMs: number
  answeredStatus: number
  /** The contents of the body, when it has the form of a message of this platform. */
  own: OwnMessage | undefined
  confirmation?: Confirmation
  signature?: Promise<SignatureVerdict>
}

export type Inbox = {
  name: string
  behaviour: InboxBehaviour
  /** Messages that were answered since the behaviour was set. */
  used: number
  messageCount: number
  droppedCount: number
}

const inboxesMax = 100
export const messagesMax = 5_000
export const keptBytesMax = 64 * 1_048_576
/** Memory of a message beside its texts. */
const overheadBytes = 2_048

export const usualBehaviour: InboxBehaviour = { statuses: [200], isSequence: false, delayMs: 0, body: '' }

export type Inboxes = ReturnType<typeof createInboxes>

type KeptMessages = { inboxes: Map<string, Inbox>; messages: Map<string, CaughtMessage>; bytes: number }

export function createInboxes() {
  const kept: KeptMessages = { inboxes: new Map(), messages: new Map(), bytes: 0 }
  return {
    /** The inbox of this name, made on its first use. */
    open: (name: string) => openInbox(kept, name),
    find: (name: string) => kept.inboxes.get(name),
    list: () => [...kept.inboxes.values()],
    keptBytes: () => kept.bytes,
    /** The messages of an inbox, newest first. */
    messagesOf: (name: string) => [...kept.messages.values()].filter(({ inbox }) => inbox === name).reverse(),
    message: (name: string, id: string) => {
      const found = kept.messages.get(id)
      return found?.inbox === name ? found : undefined
    },
    /** Keeps a message, with the status that it is answered with. */
    keep: (name: string, arrived: Arrived, nowMs: number) => keep(kept, name, arrived, nowMs),
    behave: (name: string, behaviour: InboxBehaviour) =>
      Object.assign(openInbox(kept, name), { behaviour, used: 0 }),
    /** Replaces all inboxes and messages. */
    replace: (inboxes: readonly Inbox[], messages: readonly CaughtMessage[]) => {
      kept.inboxes = new Map(inboxes.map((inbox) => [inbox.name, inbox]))
      kept.messages = new Map(messages.map((message) => [message.id, message]))
      kept.bytes = messages.reduce((sum, message) => sum + bytesOf(message), 0)
    },
    all: () => [...kept.messages.values()],
    clear: (name: string) => clear(kept, name),
    remove: (name: string) => {
      clear(kept, name)
      kept.inboxes.delete(name)
    },
  }
}

function openInbox({ inboxes }: KeptMessages, name: string): Inbox {
  const known = inboxes.get(name)
  if (known) return known
  if (inboxes.size >= inboxesMax)
    throw new ApiError(
      'inboxLimitReached',
      `inbox ${name} would be one more than ${inboxesMax}: delete another with DELETE /sandbox/catcher/{inbox}.`,
    )
  const counts = { used: 0, messageCount: 0, droppedCount: 0 }
  const inbox: Inbox = { name, behaviour: usualBehaviour, ...counts }
  inboxes.set(name, inbox)
  return inbox
}

function keep(kept: KeptMessages, name: string, arrived: Arrived, nowMs: number): CaughtMessage {
  const inbox = openInbox(kept, name)
  const answeredStatus = nextStatus(inbox)
  // A reading request uses up no answer: endpoints are probed by HEAD before they are subscribed.
  if (isMessage(arrived)) inbox.used += 1
  const receivedMs = Math.floor(nowMs)
  const message: CaughtMessage = {
    ...arrived,
    // Small buffers share memory with others, which would stay with them.
    bytes: copied(arrived.bytes),
    id: newId(receivedMs),
    inbox: name,
    receivedMs,
    answeredStatus,
    own: readOwnMessage(arrived),
  }
  kept.messages.set(message.id, message)
  inbox.messageCount += 1
  kept.bytes += bytesOf(message)
  while (kept.messages.size > messagesMax || kept.bytes > keptBytesMax) dropOldest(kept)
  return message
}

function dropOldest(kept: KeptMessages): void {
  const [oldest] = kept.messages.values()
  forget(kept, oldest!)
  kept.inboxes.get(oldest!.inbox)!.droppedCount += 1
}

function clear(kept: KeptMessages, name: string): void {
  for (const message of kept.messages.values()) if (message.inbox === name) forget(kept, message)
}

function forget(kept: KeptMessages, message: CaughtMessage): void {
  kept.messages.delete(message.id)
  kept.bytes -= bytesOf(message)
  kept.inboxes.get(message.inbox)!.messageCount -= 1
}

const isMessage = ({ method }: Arrived) => method === 'POST' || method === 'PUT'

/** The status of the next answer. */
export const nextStatus = ({ behaviour: { statuses }, used }: Pick<Inbox, 'behaviour' | 'used'>): number =>
  statuses[Math.min(used, statuses.length - 1)]!

/** The texts that were read of a body take up to two bytes for each of its own. */
const bytesOf = ({ bytes, own, query, rawHeaders }: CaughtMessage): number =>
  overheadBytes +
  bytes.length * (own ? 3 : 1) +
  query.length +
  rawHeaders.reduce((sum, text) => sum + text.length, 0)

function copied(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(own)
  return own
}
