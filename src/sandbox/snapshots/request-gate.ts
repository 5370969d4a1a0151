import { setTimeout as delay } from 'node:timers/promises'
import { ApiError } from '#lib/errors'
import type { Endpoint } from '#runtime/http/endpoint'
import type { AroundRequests } from '#runtime/http/register'

export type RequestGate = {
  around: AroundRequests
  /**
   * Lets new requests wait, and resolves once those under way have ended; `endWaits` ends those that only wait. Messages to the
   * catcher and to listeners still pass, since the deliveries of the engines end with their answers, until `seal`.
   */
  shut(endWaits: () => void): Promise<{ seal(): Promise<void>; open(): void }>
}

/** How long a request waits at a shut gate, and a shut gate for the requests under way. */
const waitMaxMs = 5_000
const lookEveryMs = 2
const endWaitsEveryMs = 50

const isOfSnapshots = ({ path }: Endpoint<never>) => /^\/sandbox\/(snapshots|reset)(\/|$)/.test(path)
/** They need neither the database nor a chain. */
const isFree = (endpoint: Endpoint<never>) => isOfSnapshots(endpoint) || endpoint.path === '/ping'
const isMessage = ({ raw, path }: Endpoint<never>) =>
  raw === true && /^\/sandbox\/(catcher|listeners)\//.test(path)

type ShutGate = { until: Promise<void>; isSealed: boolean; open(): void }

/** Holds the requests of a sandbox back while its state is saved or replaced. */
export function openRequestGate(): RequestGate {
  const underWay = new Set<{ endpoint: Endpoint<never> }>()
  let shut: ShutGate | undefined
  const waitsAt = (endpoint: Endpoint<never>) =>
    shut && (shut.isSealed || !isMessage(endpoint)) ? shut.until : undefined
  return {
    around: async (endpoint, work) => {
      if (isFree(endpoint)) return work()
      await untilOpen(() => waitsAt(endpoint))
      // A stream ends when its client leaves; what it asks meanwhile waits at the database.
      if (endpoint.streams) return work()
      const entry = { endpoint }
      underWay.add(entry)
      try {
        return await work()
      } finally {
        underWay.delete(entry)
      }
    },
    shut: async (endWaits) => {
      const ending = setInterval(endWaits, endWaitsEveryMs)
      const own = shutGate(() => {
        clearInterval(ending)
        shut = undefined
      })
      shut = own
      endWaits()
      try {
        await untilEnded(underWay, (endpoint) => !isMessage(endpoint))
      } catch (error) {
        own.open()
        throw error
      }
      return {
        open: own.open,
        seal: async () => {
          own.isSealed = true
          await untilEnded(underWay, () => true)
        },
      }
    },
  }
}

function shutGate(onOpen: () => void): ShutGate {
  let opened = () => {}
  const until = new Promise<void>((resolve) => {
    opened = resolve
  })
  const open = () => {
    onOpen()
    opened()
  }
  return { until, isSealed: false, open }
}

async function untilOpen(waitsFor: () => Promise<void> | undefined): Promise<void> {
  const deadlineMs = performance.now() + waitMaxMs
  for (let opened = waitsFor(); opened; opened = waitsFor()) {
    const leftMs = deadlineMs - performance.now()
    if (leftMs <= 0)
      throw new ApiError(
        'unavailable',
        'A snapshot of this sandbox is being saved or restored: try again in a moment.',
      )
    const expired = new AbortController()
    const wait = delay(leftMs, undefined, { signal: expired.signal }).catch(() => undefined)
    await Promise.race([opened, wait])
    expired.abort()
  }
}

async function untilEnded(
  underWay: ReadonlySet<{ endpoint: Endpoint<never> }>,
  isAwaited: (endpoint: Endpoint<never>) => boolean,
): Promise<void> {
  const deadlineMs = performance.now() + waitMaxMs
  for (;;) {
    const first = [...underWay].find(({ endpoint }) => isAwaited(endpoint))
    if (!first) return
    const { method, path } = first.endpoint
    if (performance.now() > deadlineMs)
      throw new ApiError(
        'unavailable',
        `${method} ${path} did not end within ${waitMaxMs / 1_000} seconds, and a snapshot waits for it: try again when it has.`,
      )
    await delay(lookEveryMs)
  }
}
