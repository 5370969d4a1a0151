import {
  type CrosschainText,
  messageAttestationLanes,
  transferAttestationLanes,
} from './attestation-lanes.ts'
import type { BlockStay } from './block-lanes.ts'
import type { CrosschainEvidence, MessageEvidence, TransferEvidence, UseStay } from './crosschain-evidence.ts'
import { attestedMs, messageCourse, stateOfStage } from './message-course.ts'
import { carrierLanes, deliveryLane, useLanes } from './mint-lanes.ts'
import { intentLanes, settlementLanes } from './settlement-lanes.ts'
import { instantMs, type StateChange, type TimelineLane } from './types.ts'

/** The lanes of a message or a transfer of a unified balance. `blocks`: those of the burn of a message, or the mint of a transfer. */
export function crosschainLanes(
  evidence: CrosschainEvidence,
  blocks: readonly BlockStay[],
  text: CrosschainText,
): TimelineLane[] {
  const lanes = 'message' in evidence ? messageLanes(evidence, blocks, text) : transferLanes(evidence, text)
  // A block that a transaction of the treasury is in is told of as the block of a delivery, too.
  return [...new Map(lanes.map((lane) => [lane.id, lane])).values()]
}

function messageLanes(
  evidence: MessageEvidence,
  burns: readonly BlockStay[],
  text: CrosschainText,
): TimelineLane[] {
  const { message, uses, carriers, expiredMs } = evidence
  const { amountAtomic, feeAtomic, destination, forwardFeeAtomic, forwardFailure, forwardDelay } = message
  const minting = {
    blockchain: destination ?? 'another chain',
    amountAtomic: amountAtomic - feeAtomic,
    fromMs: attestedMs(evidence),
    toMs: expiredMs,
    uses,
    forward: forwardFeeAtomic === null ? undefined : { feeAtomic: forwardFeeAtomic },
    carrier: carriers[0],
    failure: forwardFailure,
    delay: forwardDelay,
  }
  return [
    ...messageAttestationLanes(evidence, burns, text),
    ...deliveryLane(minting, text),
    ...carriers.flatMap((carrier) => carrierLanes(carrier, 'Delivery')),
    ...useLanes(uses),
  ]
}

function transferLanes(evidence: TransferEvidence, text: CrosschainText): TimelineLane[] {
  const { transfer, signatures, uses, carriers, expiredMs } = evidence
  const { forwarded, forwardId, forwardFeeAtomic, failureReason, forwardDelay } = transfer
  const mints = mintsOf(evidence)
  const mintedMs = mints.length === 0 ? undefined : mints[0]!.fromMs
  const forward = carriers.find(({ id }) => id === forwardId)
  const minting = {
    blockchain: transfer.blockchain,
    amountAtomic: transfer.valueAtomic,
    fromMs: signatures[0] && instantMs(signatures[0].recordedAt),
    toMs: expiredMs,
    uses: mints,
    forward: forwarded ? { feeAtomic: forwardFeeAtomic } : undefined,
    carrier: forward,
    failure: failureReason,
    delay: forwardDelay,
  }
  const burns = uses.filter(({ kind }) => kind === 'burned')
  return [
    ...intentLanes(evidence, text),
    ...transferAttestationLanes(evidence, mintedMs, text),
    ...deliveryLane(minting, text),
    ...(forward ? carrierLanes(forward, 'Delivery') : []),
    ...settlementLanes(evidence, finalMs(mints), text),
    ...carriers
      .filter((carrier) => carrier !== forward)
      .flatMap((carrier) => carrierLanes(carrier, `Burn on ${carrier.blockchain}`)),
    ...useLanes(burns),
    ...useLanes(mints),
  ]
}

const mintsOf = ({ uses, transfer }: TransferEvidence): UseStay[] =>
  uses.filter((use) => use.kind === 'minted' && use.blockchain === transfer.blockchain)

/** When the last of the mints that count was final. */
function finalMs(mints: readonly UseStay[]): number | undefined {
  const standing = mints.filter(({ isUndone }) => !isUndone)
  if (standing.length === 0 || standing.some(({ toMs }) => toMs === undefined)) return undefined
  return Math.max(...standing.map(({ toMs }) => toMs!))
}

/**
 * The states that a message or transfer entered: no event records them. The last one is that of the movement, also where the steps
 * of its blocks were pruned.
 */
export function crosschainStates(
  evidence: CrosschainEvidence,
  blocks: readonly BlockStay[],
  { movement }: CrosschainText,
): StateChange[] {
  const found = 'message' in evidence ? messageStates(evidence, blocks) : transferStates(evidence)
  const states = found.filter(({ state }, index) => state !== found[index - 1]?.state)
  if (states.at(-1)?.state === movement.state) return states
  const lastMs = Math.max(instantMs(movement.updateDate), states.at(-1)?.atMs ?? 0)
  return [...states, { state: movement.state, atMs: lastMs }]
}

const messageStates = (evidence: MessageEvidence, burns: readonly BlockStay[]): StateChange[] =>
  messageCourse(evidence, burns).flatMap((span) => {
    const state = stateOfStage(span)
    return state === undefined ? [] : [{ state, atMs: span.fromMs }]
  })

function transferStates(evidence: TransferEvidence): StateChange[] {
  const { transfer, signatures, expiredMs } = evidence
  const mints = mintsOf(evidence)
  const [signature] = signatures
  const minted = new Map<string, boolean>()
  const turns = mints
    .flatMap(({ subject, fromMs, toMs, isUndone }) => [
      { atMs: fromMs, subject, isMinted: true },
      ...(isUndone && toMs !== undefined ? [{ atMs: toMs, subject, isMinted: false }] : []),
    ])
    .sort((one, other) => one.atMs - other.atMs)
  const states = signature ? [{ state: 'pending', atMs: instantMs(signature.recordedAt) }] : []
  for (const { atMs, subject, isMinted } of turns) {
    minted.set(subject, isMinted)
    const isWhole = transfer.intents.every(({ specHash }) => minted.get(specHash) === true)
    states.push({ state: isWhole ? 'confirmed' : 'pending', atMs })
  }
  const doneMs = transfer.state === 'finalized' ? finalMs(mints) : undefined
  if (doneMs !== undefined) states.push({ state: 'finalized', atMs: doneMs })
  if (expiredMs !== undefined) states.push({ state: 'expired', atMs: expiredMs })
  return states
}
