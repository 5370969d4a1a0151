import type { Log } from './log.ts'

/** Every alarm there is. `docs/operate.md` says of each what happened and what to do; `npm run check` compares. */
export const alarmNames = [
  'books-differ',
  'clock-off',
  'deep-reorg',
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
  'session-stuck',
  'sweep-failed',
  'treasury-low-on-gas',
] as const

export type AlarmName = (typeof alarmNames)[number]

const raised = new Map<AlarmName, number>(alarmNames.map((name) => [name, 0]))

/** Tells the operator of something that a person has to look at: one log line with the alarm's name, and one more in its count. */
export function raiseAlarm(log: Log, alarm: AlarmName, about: object, message: string): void {
  raised.set(alarm, raised.get(alarm)! + 1)
  log.error({ alarm, ...about }, message)
}

/** How often this process raised each alarm since it started. */
export const alarmCounts = (): ReadonlyMap<AlarmName, number> => raised
