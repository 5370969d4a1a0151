import type { RefusedEndpoint } from '../facets/endpoints.ts'
import { AnswerTooLarge, NodeUnreachable } from './errors.ts'

/** Health of one endpoint, measured from its answers. Times are of the process's own monotonic clock. */
export type Health = {
  latencyMs: number
  /** Durations of the latest answered calls, in no order. */
  timesMs: number[]
  answered: number
  /** The share of recent calls that failed, the latest weighted most: 0 to 1. */
  errors: number
  /** Failures in a row. */
  failures: number
  /** End of the backoff: no request is sent before. */
  restsUntilMs: number
  head: number | undefined
  /** Whether it was verified as a node of the right chain since its last failure. */
  isVerified: boolean
  /** The reason why it is not used, when it is of another network, and the number of refusals in a row. */
  refusal: RefusedEndpoint | undefined
  refusals: number
}

const restMs = { first: 250, most: 10_000, asked: 60_000 }
const weight = 0.2
/** Number of latest calls that percentiles are computed from. */
const timesMax = 200

export const newHealth = (): Health => ({
  latencyMs: 50,
  timesMs: [],
  answered: 0,
  errors: 0,
  failures: 0,
  restsUntilMs: 0,
  head: undefined,
  isVerified: false,
  refusal: undefined,
  refusals: 0,
})

export function noteSuccess(health: Health, tookMs: number): void {
  health.latencyMs += weight * (tookMs - health.latencyMs)
  health.timesMs[health.answered++ % timesMax] = tookMs
  health.errors -= weight * health.errors
  health.failures = 0
}

/** The time, to a tenth of a millisecond, within which this share of the latest calls was answered. */
export function percentileMs({ timesMs }: Health, share: number): number | undefined {
  const sorted = [...timesMs].sort((a, b) => a - b)
  const time = sorted[Math.ceil(share * sorted.length) - 1]
  return time === undefined ? undefined : Math.round(time * 10) / 10
}

/** Whether no answer came that the question itself is the reason of. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof NodeUnreachable && !(error instanceof AnswerTooLarge)

/** Records a thrown error. A node's refusal of a call is an answer, so a success; `isFailure` tells which errors are none. */
export function noteThrown(
  health: Health,
  error: unknown,
  tookMs: number,
  isFailure: (error: unknown) => boolean,
): void {
  if (isFailure(error)) noteFailure(health, error, performance.now())
  else noteSuccess(health, tookMs)
}

/** Records a failure. The backoff doubles after each failure in a row, or lasts as long as the endpoint requests. */
export function noteFailure(health: Health, error: unknown, nowMs: number): void {
  health.errors += weight * (1 - health.errors)
  // Concurrent calls fail together: that is one failure.
  if (nowMs >= health.restsUntilMs) health.failures += 1
  health.isVerified = false
  const rest = Math.min(restMs.most, restMs.first * 2 ** Math.min(health.failures - 1, 10))
  const asked = error instanceof NodeUnreachable ? error.retryAfterMs : undefined
  const untilMs = nowMs + Math.max(rest, Math.min(asked ?? 0, restMs.asked))
  health.restsUntilMs = Math.max(health.restsUntilMs, untilMs)
}

/** Cost of a call in milliseconds, with penalties for failures and for a lagging head. Less is better. */
export function costMs(health: Health, highestHead: number, blockTimeMs: number): number {
  const behind = health.head === undefined ? 0 : highestHead - health.head
  // A lag of one block depends only on the moment of the request.
  const lateMs = behind > 1 ? behind * blockTimeMs : 0
  return health.latencyMs * (1 + 20 * health.errors) + lateMs
}
