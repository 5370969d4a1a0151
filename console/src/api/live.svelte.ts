import type { Query, QueryClient } from '@tanstack/svelte-query'
import { session } from '../session.svelte.ts'
import workerAddress from './live-worker.ts?sharedworker&url'

/** A change of a resource, as the stream tells it. */
export type LiveEvent = { type: string; resourceId: string }

/** Decides whether an event makes the data of a query old. A query without it is asked again only by hand. */
export type Follows = (event: LiveEvent) => boolean

declare module '@tanstack/svelte-query' {
  interface Register {
    queryMeta: { follows?: Follows }
  }
}

const scriptAddresses =
  'trustedTypes' in globalThis
    ? (globalThis as unknown as { trustedTypes: TrustedTypePolicyFactory }).trustedTypes.createPolicy(
        'bezant-worker',
        {
          createScriptURL(address) {
            if (new URL(address, location.origin).origin === location.origin) return address
            throw new TypeError('scripts of other origins are refused')
          },
        },
      )
    : { createScriptURL: (address: string) => address }

type TrustedTypePolicyFactory = {
  createPolicy(
    name: string,
    rules: { createScriptURL(address: string): string },
  ): { createScriptURL(address: string): string }
}

/** Events of one request arrive together. */
const gatherMs = 20
/** Queries are asked again at most this often, however many events there are. */
const restMs = 250
/** Webhooks and their deliveries come a little after the event that they follow from: queries are asked once more then. */
const followUpMs = 1_500

/** The stream of events, which says what changed; queries ask for it again. */
class Live {
  /** Whether changes arrive: `waiting` until the first contact, `broken` while the server does not answer. */
  state: 'waiting' | 'open' | 'broken' = $state('waiting')
  readonly #pending = new Map<string, LiveEvent & { isAgain: boolean }>()
  #timer: ReturnType<typeof setTimeout> | undefined

  follow(queries: QueryClient): () => void {
    const worker = new SharedWorker(scriptAddresses.createScriptURL(workerAddress) as string, {
      type: 'module',
    })
    worker.port.onmessage = ({ data }) => this.#take(data, queries)
    worker.port.postMessage({ headers: session.headers('/operator') })
    const close = () => worker.port.postMessage({ isClosed: true })
    addEventListener('pagehide', close)
    return () => {
      removeEventListener('pagehide', close)
      close()
    }
  }

  #take(message: { state?: 'open' | 'broken'; type?: string; data?: string }, queries: QueryClient): void {
    if (message.state) {
      const wasBroken = this.state === 'broken'
      this.state = message.state
      // Queries are read once, because the stream does not repeat what it sent meanwhile.
      if (wasBroken && message.state === 'open') void queries.invalidateQueries()
    } else if (message.type === 'lab.restored') {
      // Rows that lists keep are not of the restored state.
      void queries.invalidateQueries().then(() => queries.setQueriesData({ queryKey: ['kept'] }, null))
    } else if (message.type === 'gap') {
      void queries.invalidateQueries()
    } else if (message.data) {
      const { type, resourceId } = JSON.parse(message.data) as LiveEvent
      this.#pending.set(`${type} ${resourceId}`, { type, resourceId, isAgain: false })
      this.#timer ??= setTimeout(() => this.#flush(queries), gatherMs)
    }
  }

  /** Asks once more about events, together with those that wait. */
  #askAgain(events: readonly LiveEvent[], queries: QueryClient): void {
    for (const { type, resourceId } of events) {
      const key = `${type} ${resourceId}`
      if (!this.#pending.has(key)) this.#pending.set(key, { type, resourceId, isAgain: true })
    }
    this.#timer ??= setTimeout(() => this.#flush(queries), gatherMs)
  }

  /** Asks again for what the events made old, and rests longer than that took: a slow server is not asked all the time. */
  async #flush(queries: QueryClient): Promise<void> {
    const startedMs = performance.now()
    const events = [...this.#pending.values()]
    this.#pending.clear()
    const predicate = ({ meta }: Pick<Query, 'meta'>) =>
      Boolean(meta?.follows && events.some((event) => meta.follows!(event)))
    const asked = queries.getQueryCache().findAll({ predicate, fetchStatus: 'fetching' })
    // A request that is under way is not given up for the next one: under many events none would end.
    await queries.invalidateQueries({ predicate }, { cancelRefetch: false })
    const rest = Math.max(restMs, 2 * (performance.now() - startedMs))
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#pending.size > 0) void this.#flush(queries)
    }, rest)
    // The answers to these may be from before the events.
    if (asked.length > 0) this.#askAgain(events, queries)
    const first = events.filter(({ isAgain }) => !isAgain)
    if (first.length > 0) setTimeout(() => this.#askAgain(first, queries), followUpMs)
  }
}

export const live = new Live()
