const clock: Intl.DateTimeFormatOptions = {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
}
const day: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short' }

/** Formats of one time zone. A page shows hundreds of instants, and making a format takes longer than a hundred uses of it. */
function formatsOf(zone: string | undefined) {
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone })
  return {
    clock: format(clock),
    day: format(day),
    dayOfYear: format({ ...day, year: 'numeric' }),
    whole: format({ ...day, year: 'numeric', ...clock, fractionalSecondDigits: 3 }),
  }
}
const madeFormats = new Map<string | undefined, ReturnType<typeof formatsOf>>()
function formats(zone: string | undefined) {
  const made = madeFormats.get(zone) ?? formatsOf(zone)
  madeFormats.set(zone, made)
  return made
}

/** The time of day, with the day where it is not that of `now`. */
export function shownTime(date: string, zone: string | undefined, nowMs: number): string {
  const at = new Date(date)
  if (Number.isNaN(at.getTime())) return date
  const { clock, day, dayOfYear } = formats(zone)
  const [atDay, today] = [dayOfYear.format(at), dayOfYear.format(nowMs)]
  if (atDay === today) return clock.format(at)
  const isThisYear = atDay.slice(-4) === today.slice(-4)
  return `${isThisYear ? day.format(at) : atDay} ${clock.format(at)}`
}

/** The whole instant: "24 Nov 2026, 18:32:07.118 UTC". */
export function wholeTime(date: string, zone: string | undefined): string {
  const at = new Date(date)
  if (Number.isNaN(at.getTime())) return date
  const text = formats(zone).whole.format(at)
  return zone === 'UTC' ? `${text} UTC` : text
}

/** A sentence with its instants as a reader knows them: "disabled after 3 Dec 15:19:28". */
export const withTimes = (sentence: string, zone: string | undefined, nowMs: number): string =>
  sentence.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (date) => shownTime(date, zone, nowMs))

/** A duration with the precision that a reader needs: 41 ms, 5.3 s, 3 m 20 s, 2 d 4 h. */
export function shownDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} m ${Math.round(seconds % 60)} s`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h ${minutes % 60} m`
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** How long ago, in one unit: "41 s ago". */
export function shownAge(date: string, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - new Date(date).getTime()) / 1000))
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ago`
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} d ago`
}
