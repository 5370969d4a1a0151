import { setTimeout as delay } from 'node:timers/promises'
import { type Ask, pathOf, queryText } from '../ask.ts'

type TimelineTone = 'info' | 'good' | 'warn' | 'bad' | 'idle' | 'lab'

/** Something that moves money: a transaction, a payment, a payout … */
export type MovementDocument = {
  id: string
  kind: string
  direction: 'in' | 'out' | 'internal'
  phase: 'open' | 'stuck' | 'done' | 'failed' | 'denied' | 'cancelled'
  state: string
  amounts?: string[]
  tokenId?: string
  currency?: string
  symbol?: string
  blockchain: string
  from?: { address: string }
  to?: { address: string }
  txHash?: string
  createDate: string
  updateDate: string
  tookMs?: number
}

/** The course of a movement: a lane for each request, hold, attempt, block, booking and endpoint. */
export type TimelineDocument = {
  movement: MovementDocument
  startDate: string
  endDate?: string
  asOf: string
  truncated: boolean
  lanes: {
    id: string
    kind: string
    title: string
    note?: string
    open: boolean
    spans: {
      fromMs: number
      toMs?: number
      state: string
      tone: TimelineTone
      text: string
      refs: Record<string, string>
    }[]
    marks: {
      atMs: number
      what: string
      tone: TimelineTone
      text: string
      refs: Record<string, string>
      isDue?: boolean
    }[]
    folded?: number
  }[]
  /** The states in their order; a reorg makes some of them happen again. */
  states: { state: string; atMs: number; eventId?: string }[]
  /** The faults of the plan at work that it met, in their order. */
  causes?: { fault: string; hit: number; on: string; atMs: number }[]
}

/** A request to the API, as the log of the sandbox has it. */
export type RequestRecord = {
  id: string
  method: string
  path: string
  route: string
  status: number
  code?: number
  durationMs: number
  idempotencyKey?: string
  resourceId?: string
  replayed: boolean
  createDate: string
}

type RequestFilter = {
  method?: string
  route?: string
  status?: string
  idempotencyKey?: string
  resourceId?: string
}

export type OperatorHandles = {
  /**
   * Tells what happened to a transaction, payment, payout … by its id. With `until` it waits, at most `timeoutMs` (default 30,000), until the
   * state is that one, and throws when it is not by then.
   */
  timeline(id: string, options?: { until?: string; timeoutMs?: number }): Promise<TimelineDocument>
  /** The newest 50 requests to the API that match, newest first. */
  requests(filter?: RequestFilter): Promise<RequestRecord[]>
}

const usualWaitMs = 30_000
const pauseMs = 50

export const operatorOf = ({ api }: Ask): OperatorHandles => ({
  timeline: async (id, { until, timeoutMs = usualWaitMs } = {}) => {
    const path = pathOf`/operator/movements/${id}/timeline`
    const deadlineMs = performance.now() + timeoutMs
    for (;;) {
      const timeline = await api<TimelineDocument>('GET', path)
      const { movement, states } = timeline
      if (until === undefined || movement.state === until) return timeline
      if (performance.now() > deadlineMs)
        throw new Error(
          `${movement.kind} ${id} is not ${until} after ${timeoutMs} ms, but ${movement.state}; it entered ${states.map(({ state }) => state).join(', ') || 'no state'}`,
        )
      await delay(pauseMs)
    }
  },
  requests: (filter = {}) => api('GET', `/operator/requests${queryText({ ...filter, pageSize: 50 })}`),
})
