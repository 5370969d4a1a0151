import type { Log } from './log.ts'

/** All alarms. `docs/operate.md` documents the cause and the remedy of each; `npm run check` compares the lists. */
export const alarmNames = [
  'account-code-unknown',
  'books-differ',
  'burn-failed',
  'burn-short',
  'burns-unpaid',
  'chain-begun-anew',
  'chain-unkept',
  'chain-unreachable',
  'clock-off',
  'coins-short',
  'database-full',
  'database-unavailable',
  'day-not-final',
  'deep-reorg',
  'deposit-held',
  'endpoint-behind',
  'endpoint-refused',
  'forward-costs-more',
  'forward-failed',
  'history-refused',
  'journal-conflict',
  'journal-damaged',
  'journal-diverged',
  'journal-gone',
  'journal-unavailable',
  'journal-unmerged',
  'key-service-away',
  'login-provider-away',
  'mint-after-expiry',
  'mint-unknown',
  'money-differs',
  'nonce-lost',
  'nonce-unaccounted',
  'nonce-used-outside',
  'one-endpoint',
  'payments-failed',
  'payments-unsettled',
  'price-out-of-reach',
  'provider-trouble',
  'providers-disagree',
  'rebalancing-failed',
  'rebalancing-stuck',
  'replica-unused',
  'root-key-missing',
  'sandbox-credentials',
  'schema-newer',
  'screening-provider-away',
  'session-stuck',
  'attestation-refused',
  'attested-orphaned',
  'attester-away',
  'attester-untrue',
  'delivery-costs-more',
  'delivery-failed',
  'deliveries-unpaid',
  'message-key-missing',
  'sweep-failed',
  'transfer-limit',
  'transfers-omitted',
  'treasury-low-on-gas',
  'usdc-paymaster-low',
  'usdc-price-old',
  'webhook-backlog-full',
  'webhook-event-dropped',
  'webhook-endpoint-failing',
] as const

export type AlarmName = (typeof alarmNames)[number]

const counts = new Map<AlarmName, number>(alarmNames.map((name) => [name, 0]))
const words = new Map<AlarmName, string>()

/** Reports a problem that the operator must examine: writes a log line with the alarm's name and increments its count. */
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

/** Reports that the cause of a raised alarm is gone: `about` names what the alarm named. */
export function endAlarm(log: Log, alarm: AlarmName, about: Record<string, unknown>, message: string): void {
  log.info({ alarmOver: alarm, ...about }, message)
}

/**
 * Returns a function that is told again and again whether the cause of an alarm holds: it gets what the alarm is about while it
 * does. It raises the alarm when the cause begins, and reports when it is gone.
 */
export function alarmWhile(
  log: Log,
  alarm: AlarmName,
  { begins, ends }: { begins: string; ends: string },
): (about: Record<string, unknown> | undefined) => void {
  let isRaised = false
  return (about) => {
    if (about && !isRaised) raiseAlarm(log, alarm, about, begins)
    if (!about && isRaised) endAlarm(log, alarm, {}, ends)
    isRaised = about !== undefined
  }
}

/** Returns the number of times that this process raised each alarm since it started. */
export const alarmCounts = (): ReadonlyMap<AlarmName, number> => counts

/** Returns the last message of each alarm that this process raised since it started. */
export const alarmWords = (): ReadonlyMap<AlarmName, string> => words
