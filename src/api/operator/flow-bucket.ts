import { storedBucketMs } from '#engines/ledger/flow/index'
import { invalid } from '#lib/errors'

/** Maximum number of points of an answer. */
export const pointsMax = 400

const minuteMs = 60_000
const dayMs = 86_400_000

/** A duration of whole days, hours and minutes. The numbers are short, so that none is beyond what a number holds exactly. */
const durationPattern = /^P(?:(\d{1,3})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,5})M)?)?$/

/** The width of the buckets of a request, in milliseconds. */
export function bucketMsOf(text: string): number {
  const refused = (reason: string) => invalid({ at: 'bucket', reason, value: text })
  const match = durationPattern.exec(text)
  if (!match || text.endsWith('P') || text.endsWith('T'))
    throw refused('must be a duration of days, hours and minutes, such as PT30M, PT1H or P1D')
  const [days = 0, hours = 0, minutes = 0] = match.slice(1).map((part) => Number(part ?? 0))
  const ms = days * dayMs + (hours * 60 + minutes) * minuteMs
  if (ms < storedBucketMs || ms % storedBucketMs !== 0)
    throw refused('must be a multiple of five minutes: the flow is kept in buckets of PT5M')
  if (ms > dayMs) throw refused('must be at most P1D: add the points of days up for more')
  return ms
}

/** A width as a request gives it. */
export function bucketText(ms: number): string {
  if (ms === dayMs) return 'P1D'
  const [hours, minutes] = [Math.floor(ms / 3_600_000), (ms % 3_600_000) / minuteMs]
  return `PT${hours > 0 ? `${hours}H` : ''}${minutes > 0 ? `${minutes}M` : ''}`
}

const startOf = (atMs: number, bucketMs: number) => Math.floor(atMs / bucketMs) * bucketMs

const countOf = (fromMs: number, toMs: number, bucketMs: number) =>
  (startOf(toMs, bucketMs) - startOf(fromMs, bucketMs)) / bucketMs + 1

/** The beginnings of the buckets from the one with `fromMs` to the one with `toMs`. */
export function bucketStarts(fromMs: number, toMs: number, bucketMs: number): number[] {
  const count = countOf(fromMs, toMs, bucketMs)
  if (count > pointsMax)
    throw invalid({
      at: 'bucket',
      reason: `makes ${count} points, and an answer has at most ${pointsMax}: ${remedyFor(fromMs, toMs)}`,
      value: bucketText(bucketMs),
    })
  const first = startOf(fromMs, bucketMs)
  return Array.from({ length: count }, (_, index) => first + index * bucketMs)
}

function remedyFor(fromMs: number, toMs: number): string {
  const least = Math.ceil((toMs - fromMs) / pointsMax / storedBucketMs) * storedBucketMs
  for (let ms = Math.max(least, storedBucketMs); ms <= dayMs; ms += storedBucketMs)
    if (countOf(fromMs, toMs, ms) <= pointsMax) return `use ${bucketText(ms)} or more, or a shorter range`
  return `use a range of at most ${pointsMax - 1} days with P1D`
}
