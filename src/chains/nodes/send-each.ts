import type { Hex } from '#lib/hex'
import type { BroadcastOutcome } from '../facets/payments.ts'

/** Limits of one broadcast: a slow one delays all due transactions. The outcome of a slower one is read from the blocks. */
const sendTimeoutMs = 10_000
const atOnceMax = 8

type EachSender = {
  send(raw: Hex, timeoutMs: number): Promise<unknown>
  /** The meaning of what a node answered; `undefined` where it did not answer. */
  meaningOf(error: unknown): BroadcastOutcome | undefined
}

/**
 * Sends transactions by a request each, for a family whose nodes take them in any order. Throws when none of the first has an
 * answer.
 */
export async function sendEach(
  raws: readonly Hex[],
  { send, meaningOf }: EachSender,
): Promise<BroadcastOutcome[]> {
  const outcomes: BroadcastOutcome[] = []
  const endMs = performance.now() + sendTimeoutMs
  while (outcomes.length < raws.length) {
    const timeoutMs = endMs - performance.now()
    if (timeoutMs <= 0) break
    const part = raws.slice(outcomes.length, outcomes.length + atOnceMax)
    const told = await Promise.allSettled(part.map((raw) => send(raw, timeoutMs)))
    const meanings = told.map((each): BroadcastOutcome | undefined =>
      each.status === 'fulfilled' ? { kind: 'accepted' } : meaningOf(each.reason),
    )
    const first = told.find((each) => each.status === 'rejected')
    if (outcomes.length === 0 && first && meanings.every((meaning) => meaning === undefined))
      throw first.reason
    outcomes.push(...told.map((each, index) => meanings[index] ?? unanswered(each)))
  }
  const message = 'not sent: the requests before it took too long'
  return raws.map((_, index) => outcomes[index] ?? { kind: 'unknown', message })
}

const unanswered = (told: PromiseSettledResult<unknown>): BroadcastOutcome => ({
  kind: 'unknown',
  message: told.status === 'rejected' ? (told.reason as Error).message : '',
})
