import { setTimeout as delay } from 'node:timers/promises'
import { type Command, type ParsedArgs, textFlag, UsageError } from '../command.ts'
import { waitForStopSignal } from '../stop-signal.ts'
import { askSandbox, labOptions, requestSandbox, SandboxAway, SandboxRefused } from './client.ts'
import { streamedEvents } from './event-stream.ts'
import { forwardDelivery, type StreamedDelivery } from './forward-delivery.ts'

export const listenCommand: Command = {
  usage: `bezant listen [--forward-to URL] [--topics a,b] [--line v1|v2|both] [--name NAME] [--json]
       bezant listen --delete [--name NAME]

Subscribes to the notifications of a sandbox that runs, and posts each with its exact bytes and
headers to the URL. The answer is the attempt: 2xx delivers, anything else is attempted again.
Without --forward-to each is printed and answered with 200. What comes while the command does not
run waits, and follows when it is started again with the same name. --delete ends that.`,
  options: {
    'forward-to': {
      type: 'string',
      value: 'URL',
      about: 'Address to post to, such as http://localhost:3000/webhooks?key=1; its query is kept.',
    },
    topics: {
      type: 'string',
      value: 'TOPICS',
      about: 'Topics, separated by commas, such as payments,transactions.*; others are answered with 200.',
      default: 'all',
    },
    line: {
      type: 'string',
      value: 'LINE',
      about: 'v1: notifications of the business account; v2: webhooks of wallets.',
      default: 'both',
    },
    name: {
      type: 'string',
      value: 'NAME',
      about: 'Name of the listener; a second command with the same name takes over.',
      default: 'cli',
    },
    delete: { type: 'boolean', about: 'Delete the subscriptions of the name, with what waits for them.' },
    ...labOptions,
  },
  run,
}

type OpenedListener = { session: string; subscriptions: { id: string; line: string; endpoint: string }[] }
type ListenInput = { args: ParsedArgs; path: string; forwardTo: URL | undefined; body: object }

const lostMaxMs = 60_000
const retryMs = 500

async function run(args: ParsedArgs): Promise<number> {
  const name = nameOf(args)
  const path = `/sandbox/listeners/${name}`
  if (args.flags['delete']) {
    await requestSandbox(args, 'DELETE', path)
    print(args, { name, isDeleted: true }, `Deleted ${name}, with what waited for it.`)
    return 0
  }
  const asked: ListenInput = { args, path, forwardTo: forwardToOf(args), body: wantedOf(args) }
  const ending = new AbortController()
  void waitForStopSignal({ underNpm: false }).then(() => ending.abort())
  const opened = await askSandbox<OpenedListener>(args, 'POST', path, asked.body)
  print(args, { listening: name, ...opened }, describeStart(asked, name, opened))
  return listen(asked, opened.session, ending)
}

/** Reads the stream until the user ends it or another client takes over; opens it again when it breaks. */
async function listen(asked: ListenInput, session: string, ending: AbortController): Promise<number> {
  const running = new Set<Promise<void>>()
  let sessionId = session
  let lostMs: number | undefined
  while (!ending.signal.aborted) {
    try {
      const stream = `${asked.path}?session=${sessionId}`
      const response = await requestSandbox(asked.args, 'GET', stream, { signal: ending.signal })
      for await (const { event, data } of streamedEvents(response)) {
        if (ending.signal.aborted) break
        lostMs = undefined
        if (event === 'replaced' || event === 'removed') throw new TakenOver(ends[event])
        if (event !== 'delivery') continue
        const work = handle(asked, JSON.parse(data)).finally(() => running.delete(work))
        running.add(work)
      }
    } catch (error) {
      if (error instanceof TakenOver) return endedBy(running, error)
      if (error instanceof SandboxRefused && error.status === 409)
        return endedBy(running, new TakenOver(ends.replaced))
      // The sandbox was started again, and has forgotten who listened.
      if (error instanceof SandboxRefused && error.status === 404) {
        sessionId = (await askSandbox<OpenedListener>(asked.args, 'POST', asked.path, asked.body)).session
        continue
      }
      // A snapshot is being saved or restored: a stream cannot be opened meanwhile.
      const isBusy = error instanceof SandboxRefused && error.status === 503
      if (error instanceof SandboxRefused && !isBusy) throw error
      lostMs ??= performance.now()
      if (
        !ending.signal.aborted &&
        performance.now() - lostMs > lostMaxMs &&
        (isBusy || error instanceof SandboxAway)
      )
        throw error
    }
    await delay(retryMs, undefined, { signal: ending.signal }).catch(() => undefined)
  }
  // The deliveries that were handed over are answered first, so that none is sent twice.
  await Promise.all(running)
  return 0
}

class TakenOver extends Error {}

const ends = {
  replaced: 'another bezant listen of this name has taken over; choose another one with --name to have both',
  removed: 'this listener was deleted',
}

async function endedBy(running: Set<Promise<void>>, reason: TakenOver): Promise<never> {
  await Promise.all(running)
  throw reason
}

type Told = { status?: number; error?: string }

/** Passes one delivery on, reports the answer, and prints both. */
async function handle(asked: ListenInput, delivery: StreamedDelivery): Promise<void> {
  const { id, line, messageId, topic, resourceId, state } = delivery
  const startedMs = performance.now()
  const answer = asked.forwardTo
    ? await forwardDelivery(asked.forwardTo, delivery).catch((error: Error) => ({ error: error.message }))
    : { status: 200, headers: {}, body: '' }
  const durationMs = Math.round(performance.now() - startedMs)
  const unreported = await requestSandbox(asked.args, 'POST', `${asked.path}/answers`, {
    body: { deliveryId: id, ...answer },
  }).then(
    () => undefined,
    (error: Error) => error.message,
  )
  const { status, error } = answer as Told
  const row = { messageId, line, topic, resourceId, state, status, error, durationMs, unreported }
  const about = [topic ?? 'message', state, resourceId].filter(Boolean).join('  ')
  const end = asked.forwardTo ? `  → ${status ?? error} in ${durationMs} ms` : ''
  print(asked.args, row, `${about}${end}${unreported === undefined ? '' : `  (not counted: ${unreported})`}`)
}

function print(args: ParsedArgs, row: object, text: string): void {
  const isJson = args.flags['json'] === true || !process.stdout.isTTY
  process.stdout.write(`${isJson ? JSON.stringify(row) : text}\n`)
}

function describeStart({ forwardTo }: ListenInput, name: string, { subscriptions }: OpenedListener): string {
  const lines = subscriptions.map(({ line }) => line).join(' and ')
  const end = forwardTo ? `passes each on to ${forwardTo}` : 'prints each and answers 200'
  return `Listening as ${name} to notifications of ${lines}; ${end}. Ctrl-C ends it.`
}

function nameOf(args: ParsedArgs): string {
  const name = textFlag(args, 'name') ?? 'cli'
  if (/^[a-z0-9-]{1,64}$/.test(name)) return name
  throw usage(`--name must be 1 to 64 of a-z, 0-9 and the hyphen, not "${name}"`)
}

function forwardToOf(args: ParsedArgs): URL | undefined {
  const text = textFlag(args, 'forward-to')
  if (text === undefined) return undefined
  // localhost:3000 alone is a URL too, whose scheme is localhost.
  const whole = /^[\w.-]+:\d+(\/|\?|$)/.test(text) ? `http://${text}` : text
  if (URL.canParse(whole) && /^https?:$/.test(new URL(whole).protocol)) return new URL(whole)
  throw usage(`--forward-to must be an address such as http://localhost:3000/webhooks, not "${text}"`)
}

const lines = ['v1', 'v2', 'both']

function wantedOf(args: ParsedArgs): { line: string; topics?: string[] } {
  const line = textFlag(args, 'line') ?? 'both'
  if (!lines.includes(line)) throw usage(`--line must be v1, v2 or both, not "${line}"`)
  const topics = textFlag(args, 'topics')
    ?.split(',')
    .map((topic) => topic.trim())
    .filter(Boolean)
  return { line, ...(topics && topics.length > 0 && { topics }) }
}

const usage = (problem: string) => new UsageError(`${problem}\nSee: bezant listen --help`)
