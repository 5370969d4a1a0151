import { type Ask, pathOf, queryText } from '../ask.ts'

/** A request that an inbox received: a webhook of the platform, as a rule. */
export type CaughtWebhook = {
  id: string
  inbox: string
  method: string
  path: string
  query: string
  headers: Record<string, string>
  body: string
  bodyEncoding: 'utf8' | 'base64'
  bodyBytes: number
  receivedDate: string
  answeredStatus: number
  line?: 'v1' | 'v2'
  messageId?: string
  topic?: string
  resourceId?: string
  confirmation?: { state: 'confirmed' | 'refused' | 'failed'; reason: string }
  signature: { state: 'valid' | 'invalid' | 'absent'; reason: string }
}

export type CaughtMailMessage = {
  id: string
  to: string
  subject: string
  text: string
  receivedDate: string
}

/** Which messages: all of them that match every part given. `transactions.*` stands for all topics that begin so. */
export type MessageFilter = { topic?: string; resourceId?: string; messageId?: string }

type InboxAnswers = { status?: number; sequence?: readonly number[]; delay?: string; body?: string }

type WaitLimit = { timeoutMs?: number }

export type InboxHandle = {
  name: string
  /** The address that takes messages. */
  url: string
  /** Subscribes it: `v1` is the business account, `v2` wallets, with all topics unless some are given. */
  subscribe(line: 'v1' | 'v2', options?: { topics?: readonly string[] }): Promise<{ id: string }>
  /** The newest 50 messages that match, newest first. */
  messages(filter?: MessageFilter): Promise<CaughtWebhook[]>
  /**
   * The oldest message that matches and that this has not returned before; waits for one, at most `timeoutMs` (default 30,000), and throws
   * when there is none by then.
   */
  next(filter?: MessageFilter & WaitLimit): Promise<CaughtWebhook>
  /** How it answers from now on: `{ sequence: [503, 503, 200] }`; without an argument 200 again. */
  behave(answers?: InboxAnswers): Promise<void>
  /** Posts a message to another address as it came, and returns what that answers. */
  forward(
    id: string,
    url: string,
  ): Promise<{ status?: number; error?: string; durationMs: number; body?: string }>
  clear(): Promise<void>
}

export type CatcherHandle = {
  inbox(name: string): InboxHandle
  /** The mails that the platform would have sent, newest first; with `timeoutMs` it waits for one. */
  mails(filter?: { to?: string } & WaitLimit): Promise<CaughtMailMessage[]>
} & Pick<InboxHandle, 'subscribe' | 'messages' | 'next' | 'behave' | 'url'>

/** The inbox of a test that names none. */
const usualInbox = 'tests'
const usualWaitMs = 30_000
/** The longest wait of one request. */
const waitOnceMs = 30_000

export function catcherOf(ask: Ask, url: string): CatcherHandle {
  const inboxes = new Map<string, InboxHandle>()
  const inbox = (name: string): InboxHandle => {
    const found = inboxes.get(name) ?? inboxOf(ask, url, name)
    inboxes.set(name, found)
    return found
  }
  const { subscribe, messages, next, behave, url: usualUrl } = inbox(usualInbox)
  return {
    inbox,
    subscribe,
    messages,
    next,
    behave,
    url: usualUrl,
    mails: ({ to, timeoutMs = 0 } = {}) =>
      ask.lab('GET', `/sandbox/mails${queryText({ to, wait: durationOf(Math.min(timeoutMs, waitOnceMs)) })}`),
  }
}

const durationOf = (ms: number) => (ms <= 0 ? undefined : `PT${Math.ceil(ms / 100) / 10}S`)

function inboxOf({ lab }: Ask, url: string, name: string): InboxHandle {
  const path = pathOf`/sandbox/catcher/${name}`
  const returned = new Set<string>()
  const list = (
    filter: MessageFilter,
    more: { wait?: string | undefined; after?: string | undefined } = {},
  ) => {
    const { topic, resourceId, messageId } = filter
    const query = queryText({ topic, resourceId, messageId, pageSize: 50, ...more })
    return lab<CaughtWebhook[]>('GET', `${path}/messages${query}`)
  }
  return {
    name,
    url: url + path,
    subscribe: (line, options) => lab('POST', `${path}/subscriptions`, { line, ...options }),
    messages: (filter = {}) => list(filter),
    next: async ({ timeoutMs = usualWaitMs, ...filter } = {}) => {
      const deadlineMs = performance.now() + timeoutMs
      let found = await list(filter)
      for (;;) {
        const message = found.findLast(({ id }) => !returned.has(id))
        if (message) {
          returned.add(message.id)
          return message
        }
        const leftMs = deadlineMs - performance.now()
        if (leftMs <= 0) throw new Error(await noneCame(name, filter, timeoutMs, await list({})))
        const wait = durationOf(Math.min(leftMs, waitOnceMs))
        found = await list(filter, { wait, after: found[0]?.id })
      }
    },
    behave: async (answers) => {
      if (answers) await lab('PUT', `${path}/behaviour`, answers)
      else await lab('DELETE', `${path}/behaviour`)
    },
    forward: (id, to) => lab('POST', pathOf`/sandbox/catcher/${name}/messages/${id}/forward`, { url: to }),
    clear: () => lab('DELETE', `${path}/messages`),
  }
}

/** The message of a wait that ended without a message: the filter, and what came in its place. */
async function noneCame(
  name: string,
  filter: MessageFilter,
  timeoutMs: number,
  others: readonly CaughtWebhook[],
): Promise<string> {
  const wanted =
    Object.keys(filter).length === 0 ? 'no further message' : `no message ${JSON.stringify(filter)}`
  const came = others.map(({ topic = 'of no topic', resourceId = '' }) => `${topic} ${resourceId}`.trim())
  const rest =
    came.length === 0
      ? 'It has no message at all: subscribe it with subscribe() before what is to be reported'
      : `It has ${came.slice(0, 10).join(', ')}`
  return `the inbox ${name} got ${wanted} within ${timeoutMs} ms. ${rest}`
}
