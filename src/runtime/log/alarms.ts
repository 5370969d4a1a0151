import type { Log } from './log.ts'

/** Every alarm there is. `docs/operate.md` says of each what happened and what to do; `npm run check` compares. */
export const alarmNames = [
  'books-differ',
  'chain-begun-anew',
  'chain-unkept',
  'clock-off',
  'deep-reorg',
  'endpoint-refused',
  'journal-conflict',
  'journal-damaged',
  'journal-diverged',
  'journal-gone',
  'journal-unavailable',
  'journal-unmerged',
  'money-differs',
  'nonce-unaccounted',
  'nonce-used-outside',
  'one-endpoint',
  'price-out-of-reach',
  'provider-trouble',
  'providers-disagree',
  'sandbox-credentials',
  'session-stuck',
  'sweep-failed',
  'treasury-low-on-gas',
] as const

export type AlarmName = (typeof alarmNames)[number]

const counts = new Map<AlarmName, number>(alarmNames.map((name) => [name, 0]))
const words = new Map<AlarmName, string>()

/** Tells the operator of something that a person has to look at: one log line with the alarm's name, and one more in its count. */
export function raiseAlarm(
  log: Log,
  alarm: AlarmName,
  about: Record<string, unknown>,
  message: string,
): void {
  const { err } = about
  counts.set(alarm, counts.get(alarm)! + 1)
  words.set(alarm, err instanceof Error ? `${message}: ${err.message}` : message)
  log.error({ alarm, ...about }, message)
}

/** How often this process raised each alarm since it started. */
export const alarmCounts = (): ReadonlyMap<AlarmName, number> => counts

/** The alarms that this process raised since it started, each in its last words. */
export const alarmWords = (): ReadonlyMap<AlarmName, string> => words
