/**
 * Bounds what requests make nodes execute. Their reads use connections of their own, and take turns by asker, so that the
 * engines, which sign, send and follow blocks, and other askers get through whatever one of them asks.
 */
import { ApiError } from '#lib/errors'
import { createLanes } from '#runtime/scheduling/fair-concurrency'
import type { ReadAsker } from '../chain.ts'

/** Executions at once for all askers of this process, at a local node and at each configured endpoint. */
const executionsMax = { local: 2, endpoint: 8 } as const
/** Other reads, which cost a node little. */
const lookupsMax = 32
const waitingMax = 1_000
/** Longer than the slowest call that is bounded by its gas, and shorter than the patience of clients. */
const waitMs = 10_000

/** `execution`: a node executes code that the request chooses. */
type ReadKind = 'execution' | 'lookup'

/** Asks once it is the turn of one asker. An asker gets at most half of the turns at once. */
export type InTurn = <Result>(kind: ReadKind, ask: () => Promise<Result>) => Promise<Result>

type Turns = {
  of(asker: ReadAsker): InTurn
  /** Number of reads that wait for their turn. */
  waiting(): number
}

export type TurnsInput = { blockchain: string; local: boolean; endpoints: number }

export function createTurns({ blockchain, local, endpoints }: TurnsInput): Turns {
  const crowded = () =>
    new ApiError(
      'tooManyRequests',
      `Too many of your requests wait for the nodes of ${blockchain}: send fewer at a time, or try again in a moment.`,
    )
  const bounds = { leavesRoom: true, waitingMax, waitMs, crowded }
  const count = local ? executionsMax.local : executionsMax.endpoint * endpoints
  const lanes = {
    execution: createLanes({ ...bounds, count }),
    lookup: createLanes({ ...bounds, count: lookupsMax }),
  }
  return {
    of: ({ name, part, time }) => {
      const timed = <Result>(ask: () => Promise<Result>): Promise<Result> => {
        const startedMs = performance.now()
        return ask().finally(() => time?.spend(performance.now() - startedMs))
      }
      return async (kind, ask) => {
        time?.require()
        return lanes[kind].run(name, () => timed(ask), part)
      }
    },
    waiting: () => lanes.execution.waiting() + lanes.lookup.waiting(),
  }
}
