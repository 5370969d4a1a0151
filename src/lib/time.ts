const instantPattern = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/
const earliestMs = Date.parse('0001-01-01T00:00:00.000Z')
/** The last instant that can be shown and stored. */
export const latestInstantMs = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Parses an RFC 3339 instant with its offset into milliseconds since the epoch, or `undefined`.
 * Digits beyond the millisecond are cut, since every `createDate` is shown with that precision.
 * Impossible dates (30 February, hour 24) are refused rather than rolled over.
 */
export function parseInstant(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined
  const match = instantPattern.exec(text)
  if (!match) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (year < 1 || month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return undefined
  const ms = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3))
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second, ms)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const offsetMs = parseOffsetMs(match[8]!)
  if (offsetMs === undefined) return undefined
  const atMs = date.getTime() - offsetMs
  // An offset can move an instant out of the years 1 to 9999, which neither we nor the database could format.
  return atMs < earliestMs || atMs > latestInstantMs ? undefined : atMs
}

function parseOffsetMs(zone: string): number | undefined {
  if (zone === 'Z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(4, 6))
  if (hours > 23 || minutes > 59) return undefined
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

/** The rule that a refused instant breaks, as the reason of an error. */
export const instantRule = 'must be an RFC 3339 instant with its offset, such as 2026-01-01T00:00:00.000Z'

/** Formats an instant for the wire: UTC with three fractional digits. */
export const formatInstant = (atMs: number): string => new Date(atMs).toISOString()

/** The source of business time; no other code may read the system clock for it. */
export type Clock = {
  nowMs(): number
  /** Returns the lead of the machine's own clock over this one (negative if behind), if they differ. */
  hostOffMs?(): number
  /** Reads the time again at once, after a sandbox has moved it. */
  reread?(): Promise<void>
}

/** Maximum clock offset of a machine; beyond it, the API refuses requests. */
export const hostOffMaxMs = 2_000

/** The clock of this machine, only for times that no other machine sees. */
export const systemClock: Clock = { nowMs: () => Date.now() }
