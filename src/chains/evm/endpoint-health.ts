import type { RefusedEndpoint } from '../chain.ts'
import { RpcError, RpcUnreachable } from './rpc.ts'
import { isLimitCode } from './rpc-errors.ts'

/** What is known of one endpoint by how it answered. Times are of the process's own monotonic clock. */
export type Health = {
  latencyMs: number
  /** How long the latest calls took that were answered, in no order. */
  timesMs: number[]
  answered: number
  /** The share of late calls that failed, recent ones counting most: 0 to 1. */
  errors: number
  /** Failures in a row. */
  failures: number
  /** Nothing is asked of it before. */
  restsUntilMs: number
  head: number | undefined
  /** Whether it said that it is a node of the right chain since it last failed. */
  isVerified: boolean
  /** Why it is not used, if it was found to be of another network, and how often in a row. */
  refusal: RefusedEndpoint | undefined
  refusals: number
}

const restMs = { first: 250, most: 10_000, asked: 60_000 }
const weight = 0.2
/** Percentiles are of so many calls. */
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

/** The time, to a tenth of a millisecond, in which this share of the latest calls was answered. */
export function percentileMs({ timesMs }: Health, share: number): number | undefined {
  const sorted = [...timesMs].sort((a, b) => a - b)
  const time = sorted[Math.ceil(share * sorted.length) - 1]
  return time === undefined ? undefined : Math.round(time * 10) / 10
}

/** A call that a node refuses for what it asks is an answer like any other; anything else that is thrown is a failure. */
export function noteThrown(health: Health, error: unknown, tookMs: number): void {
  if (error instanceof RpcUnreachable || isLimited(error)) noteFailure(health, error, performance.now())
  else noteSuccess(health, tookMs)
}

/** It rests twice as long after each failure in a row, or as long as it asks for. */
export function noteFailure(health: Health, error: unknown, nowMs: number): void {
  health.errors += weight * (1 - health.errors)
  // Calls that were under way together fail together: that is one failure.
  if (nowMs >= health.restsUntilMs) health.failures += 1
  health.isVerified = false
  const rest = Math.min(restMs.most, restMs.first * 2 ** Math.min(health.failures - 1, 10))
  const asked = error instanceof RpcUnreachable ? error.retryAfterMs : undefined
  const untilMs = nowMs + Math.max(rest, Math.min(asked ?? 0, restMs.asked))
  health.restsUntilMs = Math.max(health.restsUntilMs, untilMs)
}

/** Less is better: milliseconds that a call costs, failed ones and those of a late head counted in. */
export function costMs(health: Health, highestHead: number, blockTimeMs: number): number {
  const behind = health.head === undefined ? 0 : highestHead - health.head
  // One block behind is a matter of when it was asked.
  const lateMs = behind > 1 ? behind * blockTimeMs : 0
  return health.latencyMs * (1 + 20 * health.errors) + lateMs
}

const limitPattern = /rate.?limit|limit exceeded|too many requests|request limit|capacity|throughput/i
const statePattern =
  /(header|block|receipts?) not found|unknown block|missing trie node|not available|does not exist|timeout|timed out|internal error|unavailable|sync/i

/** The endpoint asks to be left alone for a while, in words instead of by 429. */
export const isLimited = (error: unknown): boolean =>
  error instanceof RpcError && isLimitCode(error.rpcCode) && limitPattern.test(error.message)

/** Another endpoint may do better: this one cannot be reached, is limited, or lacks what was asked for. */
export const isItsOwn = (error: unknown): boolean =>
  error instanceof RpcUnreachable ||
  isLimited(error) ||
  (error instanceof RpcError &&
    error.rpcCode !== 3 &&
    !/revert/i.test(error.message) &&
    (error.rpcCode === -32601 || error.rpcCode === -32603 || statePattern.test(error.message)))
