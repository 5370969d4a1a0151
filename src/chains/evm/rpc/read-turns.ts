/**
 * Bounds what requests make nodes execute. Their reads use connections of their own, and take turns by asker, so that the
 * engines, which sign, send and follow blocks, and other askers get through whatever one of them asks.
 */
import { ApiError } from '#lib/errors'
import { createLanes } from '#runtime/scheduling/fair-concurrency'
import type { ReadAsker } from '../../chain.ts'
import type { Endpoints } from './endpoints.ts'

/** Calls that a node executes at once for all askers of this process, at a local node and at each configured endpoint. */
const executionsMax = { local: 2, endpoint: 8 } as const
/** Other reads, which cost a node little. */
const lookupsMax = 32
const waitingMax = 1_000
/** Longer than the slowest call that is bounded by its gas, and shorter than the patience of clients. */
const waitMs = 10_000

/** The methods with which a node executes code that a request chooses. */
const executing: readonly string[] = ['eth_call', 'eth_estimateGas']

type ReadTurns = {
  /** The same endpoints for one asker: each request waits for its turn. An asker gets at most half of the turns at once. */
  inTurnOf(asker: ReadAsker): Endpoints
  /** Number of reads that wait for their turn. */
  waiting(): number
}

type ReadTurnsInput = { blockchain: string; local: boolean; endpoints: number }

export function createReadTurns(rpc: Endpoints, { blockchain, local, endpoints }: ReadTurnsInput): ReadTurns {
  const crowded = () =>
    new ApiError(
      'tooManyRequests',
      `Too many of your requests wait for the nodes of ${blockchain}: send fewer at a time, or try again in a moment.`,
    )
  const bounds = { leavesRoom: true, waitingMax, waitMs, crowded }
  const count = local ? executionsMax.local : executionsMax.endpoint * endpoints
  const executions = createLanes({ ...bounds, count })
  const lookups = createLanes({ ...bounds, count: lookupsMax })
  const lanesOf = (methods: readonly string[]) =>
    methods.some((method) => executing.includes(method)) ? executions : lookups
  return {
    inTurnOf: ({ name, part, time }) => {
      const timed = <Result>(ask: () => Promise<Result>): Promise<Result> => {
        const startedMs = performance.now()
        return ask().finally(() => time?.spend(performance.now() - startedMs))
      }
      const inTurn = async <Result>(
        methods: readonly string[],
        ask: () => Promise<Result>,
      ): Promise<Result> => {
        time?.require()
        return lanesOf(methods).run(name, () => timed(ask), part)
      }
      return {
        ...rpc,
        call: (method, params, limits) => inTurn([method], () => rpc.call(method, params, limits)),
        batch: (calls, limits) => {
          const methods = calls.map(({ method }) => method)
          return inTurn(methods, () => rpc.batch(calls, limits))
        },
      }
    },
    waiting: () => executions.waiting() + lookups.waiting(),
  }
}
