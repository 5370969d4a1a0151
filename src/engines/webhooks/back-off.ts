import { randomInt } from 'node:crypto'

/** Time for which a notification is attempted, at the end about every hour, before it fails. */
export const keptTryingMs = 3 * 86_400_000

const firstMs = 1_000
const longestMs = 3_600_000

/** Returns the wait after this many consecutive failures, from 1: doubles each time, with a jitter of up to a quarter. */
export function backOffMs(failures: number): number {
  const ms = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), longestMs)
  return Math.round(ms * (0.75 + randomInt(0, 501) / 1_000))
}
