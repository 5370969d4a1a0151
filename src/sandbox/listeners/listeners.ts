/**
 * Listeners: endpoints of the sandbox itself that pass each delivery to a client over a stream, and answer what the client
 * reports. One client at a time; while there is none, deliveries are refused, and are so attempted again.
 */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { ApiError } from '#lib/errors'
import type { OwnMessage } from '../catcher/own-message.ts'

/** The lines and topics that a client asked for. */
type Wanted = { lines: readonly ('v1' | 'v2')[]; topics: readonly string[] | undefined }

/** The answer of a client's own endpoint. */
type ReportedAnswer = { status: number; headers: Record<string, string>; body: string }

type WaitingDelivery = { lateMs: number; end(reported: ReportedAnswer | undefined): void }

type ListenSession = { id: string; wanted: Wanted; stream?: Readable }

export type Listener = {
  name: string
  /** The session that was opened last, and takes over when its stream is read. */
  offered: ListenSession | undefined
  current: ListenSession | undefined
  /** Deliveries that wait for an answer, by an id that only the client knows. */
  waiting: Map<string, WaitingDelivery>
}

const listenersMax = 50
/** As many deliveries as the platform sends at once to an endpoint of each line, and some that were sent by hand. */
const waitingMax = 32
const silenceMs = 15_000
/** An answer that comes later than the platform waits has no effect, so the connection may end. */
const graceMs = 1_000

export type Listeners = ReturnType<typeof createListeners>

export function createListeners() {
  const listeners = new Map<string, Listener>()
  const find = (name: string): Listener => {
    const found = listeners.get(name)
    if (!found) throw new ApiError('listenerNotFound')
    return found
  }
  return {
    find,
    list: () => [...listeners.values()],
    /** Makes the listener, so that its endpoint can be subscribed. */
    make: (name: string): Listener => {
      const known = listeners.get(name)
      if (known) return known
      if (listeners.size >= listenersMax)
        throw new ApiError(
          'listenerLimitReached',
          `There are ${listenersMax} listeners already: delete one with DELETE /sandbox/listeners/{id}.`,
        )
      const made: Listener = { name, offered: undefined, current: undefined, waiting: new Map() }
      listeners.set(name, made)
      return made
    },
    /** Offers a session to a client. The one that is open goes on until the client reads the stream of the new one. */
    offer: (listener: Listener, wanted: Wanted): string => {
      listener.offered = { id: randomUUID(), wanted }
      return listener.offered.id
    },
    connect: (name: string, sessionId: string) => connect(find(name), sessionId),
    /** Ends the streams too: a client that connects again is not known, and opens its listener anew. */
    forget: () => {
      for (const { current } of listeners.values()) current?.stream?.destroy()
      listeners.clear()
    },
    /** Returns whether there was one. */
    remove: (name: string): boolean => {
      const found = listeners.get(name)
      if (found?.current) endStream(found.current, 'removed')
      return listeners.delete(name)
    },
  }
}

/** Opens the stream of a session; ends that of the session before. */
function connect(listener: Listener, sessionId: string): Readable {
  const { offered, current } = listener
  const session = [offered, current].find((each) => each?.id === sessionId)
  if (!session) throw new ApiError('listenerTakenOver')
  if (session === offered) listener.offered = undefined
  if (current && current !== session) endStream(current, 'replaced')
  // A client that has lost its connection opens the same session again.
  session.stream?.destroy()
  const stream = new Readable({ read: () => undefined })
  session.stream = stream
  listener.current = session
  const beating = setInterval(() => stream.push(':\n\n'), silenceMs)
  beating.unref()
  stream.once('close', () => {
    clearInterval(beating)
    if (session.stream === stream) delete session.stream
    if (listener.current !== session || session.stream) return
    // The client has ended, and reports no more answers.
    for (const { end } of listener.waiting.values()) end(undefined)
  })
  stream.push(eventText('ready', { id: listener.name }))
  return stream
}

/** Deliveries that a replaced client was given still wait for its answers. */
function endStream({ stream }: ListenSession, why: 'replaced' | 'removed'): void {
  stream?.push(eventText(why, {}))
  stream?.push(null)
}

const eventText = (event: string, data: object, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

export const isWanted = ({ lines, topics }: Wanted, { line, topic }: OwnMessage): boolean =>
  lines.includes(line) &&
  (topics === undefined || topics.some((each) => each === topic || isUnder(topic, each)))

const isUnder = (topic: string | undefined, wanted: string): boolean =>
  wanted === '*' || (wanted.endsWith('.*') && (topic ?? '').startsWith(wanted.slice(0, -1)))

/** Whether as many deliveries wait as may. */
export const isCrowded = ({ waiting }: Listener): boolean => waiting.size >= waitingMax

/** Gives a delivery to the client; resolves with what it reports, or undefined when it does not. */
export function passOn(
  { waiting, current }: Listener,
  delivery: object,
  timeoutMs: number,
): Promise<ReportedAnswer | undefined> {
  const id = randomUUID()
  return new Promise((resolve) => {
    const end = (reported: ReportedAnswer | undefined) => {
      clearTimeout(timer)
      waiting.delete(id)
      resolve(reported)
    }
    const timer = setTimeout(() => end(undefined), timeoutMs + graceMs)
    timer.unref()
    waiting.set(id, { lateMs: performance.now() + timeoutMs, end })
    current!.stream!.push(eventText('delivery', { id, ...delivery, timeoutMs }, id))
  })
}

/** Ends the wait of a delivery with the answer of the client's own endpoint. */
export function report({ waiting }: Listener, deliveryId: string, reported: ReportedAnswer): void {
  const found = waiting.get(deliveryId.toLowerCase())
  if (!found || performance.now() > found.lateMs) throw new ApiError('deliveryNotWaiting')
  found.end(reported)
}
