import { gapsBetween } from './attempt-lanes.ts'
import type { CrosschainText } from './attestation-lanes.ts'
import type { TransferEvidence, UseStay } from './crosschain-evidence.ts'
import { failedMs, useSpan } from './mint-lanes.ts'
import { instantMs, type Mark, type Span, type TimelineLane } from './types.ts'

/** One lane for each burn intent: reserved, and burned on its source, or returned. */
export function intentLanes(
  { transfer, signatures, uses, expiredMs }: TransferEvidence,
  { amount }: CrosschainText,
): TimelineLane[] {
  const [signature] = signatures
  if (!signature) return []
  return transfer.intents.map(({ specHash, blockchain, depositor, valueAtomic, feeAtomic }): TimelineLane => {
    const refs = { specHash }
    const burns = uses.filter((use) => use.kind === 'burned' && use.subject === specHash)
    const sum = `${amount(valueAtomic)} and a fee of ${amount(feeAtomic)} of ${depositor} on ${blockchain}`
    const reserved = gapsBetween(burns, instantMs(signature.recordedAt), expiredMs).map(
      (gap): Span => ({ ...gap, state: 'reserved', tone: 'info', text: `${sum} are reserved.`, refs }),
    )
    return {
      id: `intent:${specHash}`,
      kind: 'intent',
      title: `Burn intent on ${blockchain}`,
      note: depositor,
      spans: [...reserved, ...burns.map((burn) => burnSpan(burn, sum, refs))].sort(
        (one, other) => one.fromMs - other.fromMs,
      ),
      marks:
        expiredMs === undefined
          ? []
          : [{ atMs: expiredMs, what: 'returned', tone: 'idle', text: `${sum} are available again.`, refs }],
    }
  })
}

const burnSpan = (stay: UseStay, sum: string, refs: Record<string, string>): Span =>
  useSpan(stay, {
    state: 'burned',
    text: `Block ${stay.blockNumber} burned ${sum} in transaction ${stay.txHash}`,
    refs,
  })

/** One lane for each burn that is sent: due with the mint final, sent by the treasury, and in a block of its source. */
export function settlementLanes(
  evidence: TransferEvidence,
  mintFinalMs: number | undefined,
  text: CrosschainText,
): TimelineLane[] {
  if (mintFinalMs === undefined) return []
  return evidence.transfer.burns.map((burn) => settlementLane(evidence, burn, mintFinalMs, text))
}

function settlementLane(
  { transfer, uses, carriers }: TransferEvidence,
  { entry, blockchain, state, batchId, failures, dueAt }: TransferEvidence['transfer']['burns'][number],
  mintFinalMs: number,
  { amount, shiftMs }: CrosschainText,
): TimelineLane {
  const intents = transfer.intents.filter(
    (intent) => intent.entry === entry && intent.blockchain === blockchain,
  )
  const specs = new Set(intents.map(({ specHash }) => specHash))
  const sumAtomic = intents.reduce((sum, { valueAtomic, feeAtomic }) => sum + valueAtomic + feeAtomic, 0n)
  const sum = `${amount(sumAtomic)} on ${blockchain}`
  const burns = uses.filter((use) => use.kind === 'burned' && specs.has(use.subject))
  const burnedMs = burns.length === 0 ? undefined : Math.min(...burns.map(({ fromMs }) => fromMs))
  const carrier = carriers.find(({ id }) => id === batchId)
  const [first] = carrier?.events ?? []
  const sentMs = first && instantMs(first.recordedAt)
  const endedMs = burnedMs ?? (carrier && failedMs(carrier))
  const refs: Record<string, string> = batchId === null ? {} : { transactionId: batchId }
  const spans: Span[] = [
    {
      fromMs: mintFinalMs,
      toMs: sentMs ?? burnedMs,
      state: 'waiting',
      tone: 'info',
      text: `The mint is final, and ${sum} wait to be burned by the treasury of this server.`,
      refs: {},
    },
  ]
  if (sentMs !== undefined)
    spans.push({
      fromMs: sentMs,
      toMs: endedMs,
      state: 'sent',
      tone: 'info',
      text: `The treasury of this server sends the transaction that burns ${sum}.`,
      refs,
    })
  const standing = burns.filter(({ isUndone }) => !isUndone)
  if (burnedMs !== undefined)
    spans.push({
      fromMs: burnedMs,
      toMs:
        standing.length > 0 && standing.every(({ toMs }) => toMs !== undefined)
          ? Math.max(...standing.map(({ toMs }) => toMs!))
          : undefined,
      state: state === 'done' ? 'settled' : 'burned',
      tone: 'good',
      text:
        state === 'done'
          ? `${sum} are burned, in a final block: the transfer is settled there.`
          : `${sum} are burned; the block is not final yet.`,
      refs,
    })
  return {
    id: `settlement:${entry}:${blockchain}`,
    kind: 'settlement',
    title: `Burn on ${blockchain}`,
    note: failures === 0 ? 'not failed' : `failed ${failures === 1 ? 'once' : `${failures} times`}`,
    spans: spans.filter(({ fromMs, toMs }) => toMs === undefined || toMs >= fromMs),
    marks: [
      ...(carrier ? failureMark(failedMs(carrier), refs) : []),
      ...(state === 'waiting' ? [dueMark(instantMs(dueAt) - shiftMs, sum)] : []),
    ],
  }
}

const failureMark = (atMs: number | undefined, refs: Record<string, string>): Mark[] =>
  atMs === undefined
    ? []
    : [
        {
          atMs,
          what: 'failed',
          tone: 'bad',
          text: 'The transaction failed, and the burn is tried again.',
          refs,
        },
      ]

const dueMark = (atMs: number, sum: string): Mark => ({
  atMs,
  what: 'due',
  tone: 'idle',
  text: `The next attempt to burn ${sum} is due.`,
  refs: {},
  isDue: true,
})
