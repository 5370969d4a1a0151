import type { QueryClient } from '@tanstack/svelte-query'
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

/** Queries are asked again at most this often, however many events there are. */
const restMs = 250

/** The stream of events, which says what changed; queries ask for it again. */
class Live {
  /** Whether changes arrive: `waiting` until the first contact, `broken` while the server does not answer. */
  state: 'waiting' | 'open' | 'broken' = $state('waiting')
  #pending: LiveEvent[] = []
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
    } else if (message.type === 'gap' || message.type?.startsWith('lab.')) {
      void queries.invalidateQueries()
    } else if (message.data) {
      const { type, resourceId } = JSON.parse(message.data) as LiveEvent
      this.#pending.push({ type, resourceId })
      this.#timer ??= setTimeout(() => this.#flush(queries), restMs)
    }
  }

  #flush(queries: QueryClient): void {
    const events = this.#pending.splice(0)
    this.#timer = undefined
    void queries.invalidateQueries({
      predicate: ({ meta }) => Boolean(meta?.follows && events.some((event) => meta.follows!(event))),
    })
  }
}

export const live = new Live()
