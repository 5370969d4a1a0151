import { invalid } from '#lib/errors'
import { type Clock, instantRule, parseInstant } from '#lib/time'

/** Reads a field that must be an instant ahead of the business time, in milliseconds; throws `invalidRequest`. */
export function futureInstantOf(at: string, text: string, clock: Clock): number {
  const atMs = parseInstant(text)
  if (atMs === undefined) throw invalid({ at, reason: instantRule, value: text, error: 'pattern_mismatch' })
  if (atMs <= clock.nowMs())
    throw invalid({ at, reason: 'must be in the future', value: text, error: 'date_not_in_future' })
  return atMs
}
