import type { Custody } from '#custody/index'
import { oncePer } from '#runtime/scheduling/memoize'

/** Reads of a page within this time share one answer: its link costs a read in a second, whatever is asked by it. */
const keptMs = 1_000
const keptMax = 5_000

type KeptRead = { untilMs: number; answer: Promise<unknown> }

/** Custody is the same object for all requests of a process. */
const readsOf = oncePer((_: Custody) => new Map<string, KeptRead>())

export function shareReads<Answer>(
  custody: Custody,
  token: string,
  read: () => Promise<Answer>,
): Promise<Answer> {
  const reads = readsOf(custody)
  const now = performance.now()
  const kept = reads.get(token)
  if (kept && now < kept.untilMs) return kept.answer as Promise<Answer>
  const made = { untilMs: now + keptMs, answer: read() }
  reads.delete(token)
  reads.set(token, made)
  // The oldest go first; the map is in the order of the reads.
  for (const [oldest, { untilMs }] of reads) {
    if (now < untilMs && reads.size <= keptMax) break
    reads.delete(oldest)
  }
  return made.answer
}
