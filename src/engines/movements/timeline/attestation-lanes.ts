import type { Movement } from '#engines/movement'
import type { BlockStay } from './block-lanes.ts'
import type { MessageEvidence, TransferEvidence } from './crosschain-evidence.ts'
import { type MessageStage, messageCourse, type StageSpan } from './message-course.ts'
import { instantMs, type Mark, type Span, type TimelineLane, type Tone } from './types.ts'

export type CrosschainText = {
  movement: Movement
  /** An amount in whole tokens, with their symbol. */
  amount: (atomic: bigint) => string
  asOfMs: number
  /** The lead of business time. */
  shiftMs: number
}

/** The attestation of a message, and one lane for each attester that signed it or is asked to. */
export function messageAttestationLanes(
  evidence: MessageEvidence,
  burns: readonly BlockStay[],
  text: CrosschainText,
): TimelineLane[] {
  const course = messageCourse(evidence, burns).filter(
    ({ stage }) => stage !== 'gone' && stage !== 'delivered',
  )
  const lane: TimelineLane = {
    id: 'attestation',
    kind: 'attestation',
    title: 'Attestation',
    note: noteOf(evidence),
    spans: course.map((span) => stageSpan(span, evidence, text)),
    marks: [],
  }
  const attesters = attestersOf(evidence).map((address) => attesterLane(address, evidence, text))
  return [lane, ...attesters].filter(({ spans, marks }) => spans.length + marks.length > 0)
}

const delays = {
  insufficient_fee: 'not before finality, because its fee is too low for that',
  amount_above_max: 'not before finality, because its amount is too large for that',
  insufficient_allowance_available: 'not before finality, because the allowance for that is used up',
} as const

function noteOf({ message }: MessageEvidence): string {
  const { fast, delayReason, reattest, attestedAt, isFinalAttestation } = message
  const asked = fast
    ? delayReason
      ? delays[delayReason]
      : 'asked for before finality'
    : 'asked for at finality'
  const given =
    attestedAt === null ? '' : isFinalAttestation ? '; given at finality' : '; given before finality'
  return `${asked}${given}${reattest ? '; another one is asked for' : ''}`
}

const tones: Record<MessageStage, Tone> = {
  waiting: 'info',
  signing: 'info',
  attested: 'good',
  expired: 'warn',
  delivered: 'good',
  lost: 'bad',
  booked: 'idle',
  gone: 'bad',
}

const stageSpan = (span: StageSpan, evidence: MessageEvidence, text: CrosschainText): Span => ({
  fromMs: span.fromMs,
  toMs: span.toMs,
  state: span.stage,
  tone: tones[span.stage],
  text: stageText(span, evidence, text),
  refs: {
    nonce: evidence.message.nonce,
    ...(text.movement.txHash !== null && { txHash: text.movement.txHash }),
  },
})

function stageText(
  { stage, isDelivered }: StageSpan,
  { message, signatures }: MessageEvidence,
  { movement, amount }: CrosschainText,
): string {
  const { amountAtomic, feeAtomic, fast, delayReason, threshold, isFinalAttestation, signers } = message
  const burned = amount(amountAtomic)
  const minted = amount(amountAtomic - feeAtomic)
  const { destination = `domain ${message.destinationDomain}` } = message
  const fee = feeAtomic === 0n ? '' : `, and ${amount(feeAtomic)} as a fee`
  switch (stage) {
    case 'waiting':
      return `${movement.fromAddress} burned ${burned} on ${movement.blockchain}, and ${
        fast && delayReason === null ? 'its block needs enough confirmations' : 'its block needs to be final'
      } before an attester signs that.`
    case 'signing':
      return `Attester ${signatures[0]?.address} has signed the burn of ${burned}; ${threshold} have to.`
    case 'attested':
      return `Signed by ${counted(signers.length, 'attester')} ${
        isFinalAttestation ? 'with the burn final' : 'before the burn was final'
      }: ${minted} can be minted on ${destination} for ${movement.toAddress}${fee}${endOf(message)}.`
    case 'expired':
      return `Block ${message.expirationBlock} of ${destination} was the end of the attestation: ${minted} can be minted after another one.`
    case 'booked':
      return `The operator booked ${amount(message.bookedLossAtomic)} as lost: the burn left the chain, and its attestation counts.`
    default:
      return `A reorg took the burn of ${burned} back after it was attested: ${minted} ${
        isDelivered ? 'were minted' : 'can be minted'
      } on ${destination} with no coins behind them, until the burn is mined again.`
  }
}

const endOf = ({ expirationBlock, isFinalAttestation }: MessageEvidence['message']) =>
  isFinalAttestation || expirationBlock === null || expirationBlock === 0n
    ? ''
    : `, until block ${expirationBlock} there`

const counted = (count: number, noun: string) => `${count} ${count === 1 ? noun : `${noun}s`}`

const attestersOf = ({ message, signatures }: MessageEvidence): string[] => [
  ...new Set([
    ...signatures.map(({ address }) => address),
    ...message.signers,
    ...message.asked.map(({ attester }) => attester),
  ]),
]

function attesterLane(address: string, evidence: MessageEvidence, { asOfMs }: CrosschainText): TimelineLane {
  const { message, signatures } = evidence
  const own = signatures.filter((signature) => signature.address === address)
  const asked = message.asked.find(({ attester }) => attester === address)
  const refs = { attester: address, nonce: message.nonce }
  const signed = (atMs: number, text: string): Mark => ({ atMs, what: 'signed', tone: 'good', text, refs })
  const marks = own.map(({ recordedAt, digest }) =>
    signed(
      instantMs(recordedAt),
      message.digest !== null && message.digest !== `0x${digest.toString('hex')}`
        ? 'It signed the message as it was attested before, or proposed.'
        : 'It signed the message.',
    ),
  )
  const begun = signatures.at(-1)
  const lane = { id: `attester:${address}`, kind: 'attester' as const, title: 'Attester', note: address }
  if (own.length > 0 || !asked || !begun) {
    const doneMs = message.attestedAt === null ? undefined : instantMs(message.attestedAt)
    const isOther = own.length === 0 && doneMs !== undefined && message.signers.includes(address)
    return {
      ...lane,
      spans: [],
      marks: isOther ? [signed(doneMs, 'Its signature completed the attestation.')] : marks,
    }
  }
  const fromMs = instantMs(begun.recordedAt)
  const dueMs = instantMs(asked.askDate)
  const tries = counted(asked.tries, 'time')
  if (asked.signed)
    return {
      ...lane,
      spans: [],
      marks: [
        signed(
          Math.max(fromMs, Math.min(dueMs, asOfMs)),
          `It signed the message after it was asked ${tries}.`,
        ),
      ],
    }
  const isLate = asked.tries > 1
  return {
    ...lane,
    spans: [
      {
        fromMs,
        toMs: undefined,
        state: 'asked',
        tone: isLate ? 'warn' : 'info',
        text: `It was asked ${tries} to sign the message, and has not.`,
        refs,
      },
    ],
    marks: [{ atMs: dueMs, what: 'due', tone: 'idle', text: 'It is asked again.', refs, isDue: true }],
  }
}

/** The attestation of a transfer, which one signature makes for good. */
export function transferAttestationLanes(
  { transfer, signatures, expiredMs }: TransferEvidence,
  mintedMs: number | undefined,
  { amount, movement }: CrosschainText,
): TimelineLane[] {
  const [signature] = signatures
  if (!signature) return []
  const { blockchain, valueAtomic, expirationBlock } = transfer
  const fromMs = instantMs(signature.recordedAt)
  const refs = { unifiedTransferId: movement.id }
  return [
    {
      id: 'attestation',
      kind: 'attestation',
      title: 'Attestation',
      note: signature.address,
      spans: [
        {
          fromMs,
          toMs: mintedMs ?? expiredMs,
          state: 'attested',
          tone: 'good',
          text: `Signed by attester ${signature.address}: ${amount(valueAtomic)} can be minted on ${blockchain} for ${movement.toAddress}, until block ${expirationBlock} there.`,
          refs,
        },
      ],
      marks:
        expiredMs === undefined
          ? []
          : [
              {
                atMs: expiredMs,
                what: 'expired',
                tone: 'warn',
                text: `Block ${expirationBlock} of ${blockchain} was the last one for it, and nothing minted it: what it had reserved is available again.`,
                refs,
              },
            ],
    },
  ]
}
