import type { Log } from './log.ts'

/** All alarms. `docs/runbooks.md` has a section about each; `npm run check` compares the lists. */
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

/** Reports of one alarm by this process: how many, the last message, and the causes that last. */
type Reports = { count: number; words?: string; causes: Set<unknown> }

const reports = new Map<AlarmName, Reports>(alarmNames.map((name) => [name, { count: 0, causes: new Set() }]))

/** The section of `docs/runbooks.md` about an alarm, by its path on every `serve`. */
export const runbookOf = (alarm: AlarmName): string => `/docs/runbooks#${alarm}`

/**
 * Reports a problem that the operator must examine: writes a log line with the alarm's name and its runbook, and increments its count.
 * A `cause` is any value that stands for the problem until `endAlarm` is told the same one.
 */
export function raiseAlarm(
  log: Log,
  alarm: AlarmName,
  about: Record<string, unknown>,
  message: string,
  cause?: unknown,
): void {
  const { err } = about
  const known = reports.get(alarm)!
  known.count += 1
  known.words = err instanceof Error ? `${message}: ${err.message}` : message
  if (cause !== undefined) known.causes.add(cause)
  log.error({ alarm, ...about, runbook: runbookOf(alarm) }, message)
}

/** Reports that the cause of a raised alarm is gone: `about` names what the alarm named. */
export function endAlarm(
  log: Log,
  alarm: AlarmName,
  about: Record<string, unknown>,
  message: string,
  cause?: unknown,
): void {
  reports.get(alarm)!.causes.delete(cause)
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
  const report = (about: Record<string, unknown> | undefined) => {
    if (about && !isRaised) raiseAlarm(log, alarm, about, begins, report)
    if (!about && isRaised) endAlarm(log, alarm, {}, ends, report)
    isRaised = about !== undefined
  }
  return report
}

const eachReported = <Value>(of: (known: Reports) => Value | undefined): Map<AlarmName, Value> =>
  new Map(
    [...reports].flatMap(([name, known]) => {
      const value = of(known)
      return value === undefined ? [] : [[name, value] as const]
    }),
  )

/** Returns the number of times that this process raised each alarm since it started. */
export const alarmCounts = (): ReadonlyMap<AlarmName, number> => eachReported(({ count }) => count)

/** Returns the last message of each alarm that this process raised since it started. */
export const alarmWords = (): ReadonlyMap<AlarmName, string> => eachReported(({ words }) => words)

/** Returns how many causes of each alarm hold now, as far as this process reports when they end. */
export const openAlarms = (): ReadonlyMap<AlarmName, number> => eachReported(({ causes }) => causes.size)
