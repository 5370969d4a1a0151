import type { BlockStay } from './block-lanes.ts'
import type { MessageEvidence } from './crosschain-evidence.ts'
import { instantMs } from './types.ts'

/**
 * The stages of a message. `signing`: this server has signed, and others have not yet. `expired`: its attestation has ended.
 * `lost`: its burn was taken back by a reorg, and its attestation counts. `booked`: that was booked as a loss.
 */
export type MessageStage =
  | 'waiting'
  | 'signing'
  | 'attested'
  | 'expired'
  | 'delivered'
  | 'lost'
  | 'booked'
  | 'gone'

export type StageSpan = {
  stage: MessageStage
  fromMs: number
  toMs: number | undefined
  isDelivered: boolean
}

type Condition = Record<'inBlock' | 'signed' | 'attested' | 'expired' | 'received' | 'booked', boolean>
type ConditionChange = { atMs: number; change: Partial<Condition> }

/** When a message was attested first; where several sign, only the time of the last attestation is recorded. */
export function attestedMs({ message, signatures }: MessageEvidence): number | undefined {
  if (message.attestedAt === null) return undefined
  const [first] = signatures
  return instantMs(message.signers.length === 1 && first ? first.recordedAt : message.attestedAt)
}

/** The stages that a message went through, from the blocks that held its burn and its delivery, and from its signatures. */
export function messageCourse(evidence: MessageEvidence, burns: readonly BlockStay[]): StageSpan[] {
  const turns = turnsOf(evidence, burns).sort((one, other) => one.atMs - other.atMs)
  // The steps of old blocks are pruned: a burn that has none is in a block.
  const condition: Condition = {
    inBlock: burns.length === 0,
    signed: false,
    attested: false,
    expired: false,
    received: false,
    booked: false,
  }
  const spans: StageSpan[] = []
  for (const [index, { atMs, change }] of turns.entries()) {
    Object.assign(condition, change)
    // A signature that is enough alone is an attestation at once.
    if (turns[index + 1]?.atMs === atMs) continue
    const last = spans.at(-1)
    const stage = stageOf(condition)
    if (last?.stage === stage && last.isDelivered === condition.received) continue
    if (last) last.toMs = atMs
    spans.push({ stage, fromMs: atMs, toMs: undefined, isDelivered: condition.received })
  }
  return spans
}

function turnsOf(evidence: MessageEvidence, burns: readonly BlockStay[]): ConditionChange[] {
  const { message, signatures, uses, expiredMs, lossBookedMs } = evidence
  const first = attestedMs(evidence)
  const last = message.attestedAt === null ? undefined : instantMs(message.attestedAt)
  return [
    ...burns.flatMap((stay) => stayTurns(stay, 'inBlock')),
    ...signatures.slice(0, 1).map(({ recordedAt }) => turn(instantMs(recordedAt), { signed: true })),
    ...(first === undefined ? [] : [turn(first, { attested: true })]),
    ...(expiredMs === undefined || last === undefined || expiredMs < last
      ? []
      : [turn(expiredMs, { expired: true })]),
    ...uses.flatMap((stay) => stayTurns(stay, 'received')),
    ...(lossBookedMs === undefined ? [] : [turn(lossBookedMs, { booked: true })]),
  ]
}

const turn = (atMs: number, change: Partial<Condition>): ConditionChange => ({ atMs, change })

const stayTurns = (
  { fromMs, toMs, isUndone }: BlockStay,
  name: 'inBlock' | 'received',
): ConditionChange[] => [
  turn(fromMs, { [name]: true }),
  ...(isUndone && toMs !== undefined ? [turn(toMs, { [name]: false })] : []),
]

function stageOf({ inBlock, signed, attested, expired, received, booked }: Condition): MessageStage {
  if (!attested) return inBlock ? (signed ? 'signing' : 'waiting') : 'gone'
  if (!inBlock) return booked ? 'booked' : 'lost'
  return received ? 'delivered' : expired ? 'expired' : 'attested'
}

/** The state of the movement in a stage; undefined where there is no message. */
export function stateOfStage({ stage, isDelivered }: StageSpan): string | undefined {
  if (stage === 'gone') return undefined
  if (stage === 'waiting' || stage === 'signing') return 'pending'
  if (stage === 'lost') return 'lost'
  return isDelivered ? 'delivered' : 'attested'
}
