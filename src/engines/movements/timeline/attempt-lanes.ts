import type { SignedAttempt } from '#engines/transactions/history/index'
import type { RecordedEvent } from '#runtime/record/store'
import type { BlockStay } from './block-lanes.ts'
import { instantMs, type Mark, type Span, type TimelineLane } from './types.ts'

/** One lane for each signed attempt: signed, sent, stuck, replaced, mined, and sent again when its block was taken back. */
export function attemptLanes(
  attempts: readonly SignedAttempt[],
  stays: readonly BlockStay[],
  events: readonly RecordedEvent[],
  endMs: number | undefined,
): TimelineLane[] {
  const stuckAt = events
    .filter(({ type }) => type === 'transaction.stuck')
    .map((event) => instantMs(event.recordedAt))
  return attempts.map((attempt, index) => {
    const line = attempts.filter((other) => isOfLine(other, attempt))
    const replacedAt = line.find(({ replacesId }) => replacesId === attempt.id)?.recordedAt
    const taken = stays.filter(({ address, nonce }) => address === attempt.address && nonce === attempt.nonce)
    const mine = taken.filter(({ txHash }) => txHash === attempt.txHash)
    const until = replacedAt === undefined ? undefined : instantMs(replacedAt)
    const stuck = stuckAt.find((at) => at >= sentMs(attempt) && (until === undefined || at <= until))
    const spans = spansOf(attempt, { taken, mine, stuck, replaced: until, endMs })
    const before = attempts.find(({ id }) => id === attempt.replacesId)
    return {
      id: `attempt:${attempt.id}`,
      kind: 'attempt' as const,
      title: attempt.kind === 'cancel' ? `Cancel, attempt ${index + 1}` : `Attempt ${index + 1}`,
      note: noteOf(attempt, before),
      spans,
      marks: refusalsOf(attempt),
    }
  })
}

const isOfLine = (one: SignedAttempt, other: SignedAttempt) =>
  one.address === other.address && one.nonce === other.nonce

const sentMs = ({ acceptedAt, recordedAt }: SignedAttempt) => instantMs(acceptedAt ?? recordedAt)

function noteOf({ nonce, maxFeeAtomic, kind }: SignedAttempt, before: SignedAttempt | undefined): string {
  const parts = [`nonce ${nonce}`]
  if (kind === 'noop') parts.push('uses up the nonce')
  if (before && before.maxFeeAtomic > 0n) parts.push(raiseOf(maxFeeAtomic, before.maxFeeAtomic))
  return parts.join(', ')
}

/** How much more it pays: a share, or from ten times on how many times as much. */
const raiseOf = (price: bigint, before: bigint): string =>
  price >= before * 10n
    ? `price × ${(price / before).toLocaleString('en')}`
    : `price +${String(((price - before) * 100n) / before)} %`

const refusalsOf = (attempt: SignedAttempt): Mark[] =>
  attempt.state === 'rejected' || (attempt.lastError !== null && attempt.acceptedAt === null)
    ? [
        {
          atMs: instantMs(attempt.recordedAt),
          what: attempt.state === 'rejected' ? 'rejected' : 'unknown',
          tone: attempt.state === 'rejected' ? 'bad' : 'warn',
          text:
            attempt.state === 'rejected'
              ? `Every node refused it: ${attempt.lastError ?? 'no reason was given'}.`
              : `No node has confirmed that it took it: ${attempt.lastError}. It is sent again until a block holds it.`,
          refs: { attemptId: attempt.id, txHash: attempt.txHash },
        },
      ]
    : []

type Course = {
  /** Stays of any transaction with the nonce in blocks, and those of this attempt. */
  taken: readonly BlockStay[]
  mine: readonly BlockStay[]
  stuck: number | undefined
  replaced: number | undefined
  endMs: number | undefined
}

/**
 * While no block holds a transaction with the nonce, the attempt is signed, sent, stuck or replaced, as of the latest of these
 * moments; while a block holds another one, it cannot be mined.
 */
function spansOf(attempt: SignedAttempt, { taken, mine, stuck, replaced, endMs }: Course): Span[] {
  const signedMs = instantMs(attempt.recordedAt)
  const turns = [
    { atMs: signedMs, state: 'signed' },
    ...(attempt.acceptedAt === null ? [] : [{ atMs: instantMs(attempt.acceptedAt), state: 'sent' }]),
    ...(stuck === undefined ? [] : [{ atMs: stuck, state: 'stuck' }]),
    ...(replaced === undefined ? [] : [{ atMs: replaced, state: 'replaced' }]),
  ].sort((one, other) => one.atMs - other.atMs)
  const gaps = gapsBetween(taken, signedMs, attempt.state === 'rejected' ? signedMs : endMs)
  const waits = gaps.flatMap((gap) =>
    turns.flatMap(({ atMs, state }, index) => {
      const fromMs = Math.max(atMs, gap.fromMs)
      const next = turns[index + 1]?.atMs
      const toMs = next === undefined ? gap.toMs : gap.toMs === undefined ? next : Math.min(next, gap.toMs)
      return toMs !== undefined && toMs <= fromMs ? [] : [waitOf(attempt, state, fromMs, toMs)]
    }),
  )
  const held = mine.map(({ fromMs, toMs, blockNumber, blockHash, success }) => ({
    fromMs,
    toMs,
    state: success === false ? 'reverted' : 'mined',
    tone: success === false ? ('bad' as const) : ('good' as const),
    text: `Block ${blockNumber} holds it${success === false ? ', and its call failed' : ''}.`,
    refs: { attemptId: attempt.id, txHash: attempt.txHash, blockHash },
  }))
  return [...waits, ...held].sort((one, other) => one.fromMs - other.fromMs)
}

const waits = {
  signed: { tone: 'info', text: 'Signed, and not accepted by a node yet.' },
  sent: { tone: 'info', text: 'A node took it, and no block holds it yet.' },
  stuck: { tone: 'warn', text: 'Stuck: it offers less than blocks ask for.' },
  replaced: {
    tone: 'idle',
    text: 'Another attempt with its nonce took its place; a block may still hold this one.',
  },
} as const

function waitOf(attempt: SignedAttempt, state: string, fromMs: number, toMs: number | undefined): Span {
  const { tone, text } = waits[state as keyof typeof waits]
  return { fromMs, toMs, state, tone, text, refs: { attemptId: attempt.id, txHash: attempt.txHash } }
}

type Gap = { fromMs: number; toMs: number | undefined }

/** The times from `fromMs` to `endMs` in which none of these stays lasts. */
export function gapsBetween(stays: readonly BlockStay[], fromMs: number, endMs: number | undefined): Gap[] {
  const gaps: Gap[] = []
  let openFrom: number | undefined = fromMs
  for (const stay of [...stays].sort((one, other) => one.fromMs - other.fromMs)) {
    if (openFrom === undefined) break
    if (stay.fromMs > openFrom) gaps.push({ fromMs: openFrom, toMs: stay.fromMs })
    openFrom = stay.isUndone && stay.toMs !== undefined ? Math.max(openFrom, stay.toMs) : undefined
  }
  if (openFrom !== undefined && (endMs === undefined || endMs > openFrom))
    gaps.push({ fromMs: openFrom, toMs: endMs })
  return gaps
}
