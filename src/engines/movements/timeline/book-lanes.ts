import type { PlacedHold } from '#engines/ledger/holds/index'
import type { BookedFact } from '#engines/ledger/index'
import { instantMs, type Lane, type Mark } from './types.ts'

const purposes = {
  amount: 'Hold of the amount',
  fee: 'Hold of the fee',
  money: 'Hold of the money',
  review: 'Hold for the review',
} as const

/** One lane for each hold, from when it was placed until it was posted or voided. */
export const holdLanes = (holds: readonly PlacedHold[], amountText: (hold: PlacedHold) => string): Lane[] =>
  holds.map((hold) => {
    const { id, purpose, outcome, recordedAt, resolvedAt } = hold
    const amount = amountText(hold)
    const end =
      outcome === null ? 'It is still held' : outcome === 'posted' ? 'It was spent' : 'It was released'
    return {
      id: `hold:${id}`,
      kind: 'hold' as const,
      title: purposes[purpose],
      note: amount,
      spans: [
        {
          fromMs: instantMs(recordedAt),
          toMs: resolvedAt === null ? undefined : instantMs(resolvedAt),
          state: outcome ?? 'held',
          tone:
            outcome === null
              ? ('info' as const)
              : outcome === 'posted'
                ? ('good' as const)
                : ('idle' as const),
          text: `${amount} was held. ${end}.`,
          refs: { holdId: id },
        },
      ],
      marks: [],
    }
  })

/** The lane of the books: each fact that was posted, and each that was reversed. */
export function ledgerLanes(facts: readonly BookedFact[]): Lane[] {
  if (facts.length === 0) return []
  return [
    {
      id: 'ledger',
      kind: 'ledger',
      title: 'Ledger',
      note: facts.length === 1 ? '1 fact' : `${facts.length} facts`,
      spans: [],
      marks: facts.map(markOf),
    },
  ]
}

/** The names of facts that take an amount back which no posting names by its id. */
const isTakenBack = ({ fact, reversesId }: BookedFact) => reversesId !== null || fact.endsWith(':orphaned')

function markOf(posting: BookedFact): Mark {
  const { id, fact, blockHash, reversesId, recordedAt } = posting
  const reversed = isTakenBack(posting)
  return {
    atMs: instantMs(recordedAt),
    what: reversed ? 'reversed' : 'posted',
    tone: reversed ? 'bad' : 'good',
    text: `${fact} was ${reversed ? 'taken back' : 'booked'}.`,
    refs: {
      postingId: id,
      ...(reversesId !== null && { reversesId }),
      ...(blockHash !== '' && { blockHash }),
    },
  }
}
