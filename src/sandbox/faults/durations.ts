import { parseDuration } from '../durations.ts'

/** Milliseconds of a duration as plans write it: 200ms, 2s, or one of ISO 8601. */
export function delayMs(text: string): number {
  const plain = /^(\d+)(ms|s)$/.exec(text)
  if (plain) return Number(plain[1]) * (plain[2] === 's' ? 1_000 : 1)
  return parseDuration(text) ?? 0
}
