import type { PlacedHold } from '#engines/ledger/holds/index'
import type { BookedEntry, BookedFact } from '#engines/ledger/index'
import { bookingText } from './booking-text.ts'
import { instantMs, type Mark, type Span, type TimelineLane } from './types.ts'

const purposes = {
  amount: 'Hold of the amount',
  fee: 'Hold of the fee',
  gas: 'Hold for gas',
  money: 'Hold of the money',
  review: 'Hold for the review',
} as const

/** One lane for each purpose: a higher price voids one hold of the fee and places another, and a reorg places all again. */
export function holdLanes(
  holds: readonly PlacedHold[],
  amountText: (hold: PlacedHold) => string,
): TimelineLane[] {
  const placed = [...new Set(holds.map(({ purpose }) => purpose))]
  return placed.map((purpose) => ({
    id: `hold:${purpose}`,
    kind: 'hold' as const,
    title: purposes[purpose],
    note: amountText(holds.findLast((hold) => hold.purpose === purpose)!),
    spans: holds.filter((hold) => hold.purpose === purpose).map((hold) => spanOf(hold, amountText(hold))),
    marks: [],
  }))
}

const ends = {
  held: { tone: 'info', text: 'and still is' },
  posted: { tone: 'good', text: 'until it was spent' },
  voided: { tone: 'idle', text: 'until it was released' },
} as const

function spanOf({ id, outcome, recordedAt, resolvedAt }: PlacedHold, amount: string): Span {
  const state = outcome ?? 'held'
  return {
    fromMs: instantMs(recordedAt),
    toMs: resolvedAt === null ? undefined : instantMs(resolvedAt),
    state,
    tone: ends[state].tone,
    text: `${amount} was held, ${ends[state].text}.`,
    refs: { holdId: id },
  }
}

/** The lane of the books: each fact that was posted, and each that was reversed. */
export function ledgerLanes(
  facts: readonly BookedFact[],
  entries: readonly BookedEntry[],
  amountText: (entry: BookedEntry) => string,
): TimelineLane[] {
  if (facts.length === 0) return []
  return [
    {
      id: 'ledger',
      kind: 'ledger',
      title: 'Ledger',
      note: facts.length === 1 ? '1 fact' : `${facts.length} facts`,
      spans: [],
      marks: facts.map((fact) =>
        markOf(
          fact,
          entries.filter(({ postingId }) => postingId === fact.id),
          amountText,
        ),
      ),
    },
  ]
}

/** The names of facts that take an amount back which no posting names by its id. */
const isTakenBack = ({ fact, reversesId }: BookedFact) => reversesId !== null || fact.endsWith(':orphaned')

function markOf(
  posting: BookedFact,
  entries: readonly BookedEntry[],
  amountText: (entry: BookedEntry) => string,
): Mark {
  const { id, fact, blockHash, reversesId, recordedAt } = posting
  const reversed = isTakenBack(posting)
  return {
    atMs: instantMs(recordedAt),
    what: reversed ? 'reversed' : 'posted',
    tone: reversed ? 'bad' : 'good',
    text: bookingText(entries, reversed, amountText),
    refs: {
      postingId: id,
      fact,
      ...(reversesId !== null && { reversesId }),
      ...(blockHash !== '' && { blockHash }),
    },
  }
}
