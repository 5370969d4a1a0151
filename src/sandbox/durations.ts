/** Durations of ISO 8601 with fixed lengths: weeks, days, hours, minutes and seconds. Years and months have none. */
const pattern = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,3}))?S)?)?$/

const unitMs = [604_800_000, 86_400_000, 3_600_000, 60_000, 1_000] as const

/** Milliseconds of a duration as plans of faults write it: `200ms`, `2s`, or one of ISO 8601. */
export function delayMs(text: string): number {
  const plain = /^(\d+)(ms|s)$/.exec(text)
  if (plain) return Number(plain[1]) * (plain[2] === 's' ? 1_000 : 1)
  return parseDuration(text) ?? 0
}

/** The longest time that a timer takes; a longer one it takes for none. */
const timerMaxMs = 2 ** 31 - 1

/** Milliseconds to wait for a duration of a plan. */
export const waitMs = (text: string): number => Math.min(delayMs(text), timerMaxMs)

/** Milliseconds of a duration such as `P3DT4H`; undefined when the text is none. */
export function parseDuration(text: string): number | undefined {
  const match = pattern.exec(text)
  if (!match || text.endsWith('P') || text.endsWith('T')) return undefined
  const whole = unitMs.reduce((sum, ms, index) => sum + ms * Number(match[index + 1] ?? 0), 0)
  const ms = whole + Number((match[6] ?? '').padEnd(3, '0').slice(0, 3))
  return Number.isSafeInteger(ms) ? ms : undefined
}
