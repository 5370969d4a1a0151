import type { EngineCtx } from '#engines/ctx'
import { currencyDecimals } from '#engines/ledger/index'
import { tokensByIds } from '#engines/ledger/tokens/index'
import type { Movement } from '#engines/movement'
import { formatAmount } from '#lib/amounts'
import { readTimes } from '#runtime/clock/store'
import type { RecordedEvent } from '#runtime/record/store'
import { phaseOf, statesOf } from '../list-movements.ts'
import { attemptLanes } from './attempt-lanes.ts'
import type { CrosschainText } from './attestation-lanes.ts'
import { type BlockStay, blockLanes, staysOf } from './block-lanes.ts'
import { holdLanes, ledgerLanes } from './book-lanes.ts'
import { crosschainLanes, crosschainStates } from './crosschain-lanes.ts'
import { actLanes, idempotencyLanes, policyLanes, requestLanes, screeningLanes } from './decision-lanes.ts'
import { endpointLanes } from './delivery-lanes.ts'
import { deliveriesMax, eventsMax, type MovementEvidence, readEvidence, requestsMax } from './evidence.ts'
import { fold } from './fold.ts'
import { linkedLane, linkedMovementLanes } from './linked-movements.ts'
import { onChain } from './mint-lanes.ts'
import { type CausesOf, instantMs, type MetCause, type StateChange, type TimelineLane } from './types.ts'

/** The history of a movement, in real time: business time of a sandbox leaps, and then says nothing of durations. */
export type Timeline = {
  startMs: number
  /** Absent while the movement is under way. */
  endMs: number | undefined
  asOfMs: number
  /** Whether something was left out because there was too much of it. */
  truncated: boolean
  lanes: readonly TimelineLane[]
  states: readonly StateChange[]
  /** Absent where there are no faults to meet: in production. */
  causes?: readonly MetCause[]
}

/** Reads the timeline of a movement. */
export async function readTimeline(
  ctx: EngineCtx,
  entityId: string,
  movement: Movement,
  causesOf?: CausesOf,
): Promise<Timeline> {
  const { databaseMs } = await readTimes(ctx.db)
  const asOfMs = Math.floor(databaseMs)
  const evidence = await readEvidence(ctx, entityId, movement)
  const { requests, events, deliveries } = evidence
  // Messages and transfers of unified balances have no events of their states.
  const isState = stateNames(movement)
  const parts = {
    movement,
    amountOf: await amountTexts(ctx, [
      ...(evidence.crosschain ? [movement] : evidence.holds),
      ...evidence.entries,
    ]),
    acts: events.filter((event) => !isState(stateOf(event))),
    asOfMs,
    shiftMs: ctx.clock.nowMs() - asOfMs,
    stays: staysOf(evidence.blocks, evidence.steps),
  }
  const states = evidence.crosschain
    ? crosschainStates(evidence.crosschain, parts.stays, crosschainText(parts))
    : events.filter((event) => isState(stateOf(event))).map(changeOf)
  const isOver = ['done', 'failed'].includes(phaseOf(movement))
  const endMs = isOver ? states.at(-1)?.atMs : undefined
  const { lanes, truncated } = fold(lanesOf(evidence, { ...parts, endMs }))
  const moments = lanes.flatMap(({ spans, marks }) => [
    ...spans.map(({ fromMs }) => fromMs),
    ...marks.map(({ atMs }) => atMs),
  ])
  const startMs = Math.min(...moments, ...states.map(({ atMs }) => atMs), asOfMs)
  return {
    startMs,
    endMs,
    asOfMs,
    truncated:
      truncated ||
      requests.length === requestsMax ||
      events.length === eventsMax ||
      deliveries.length === deliveriesMax,
    lanes,
    states,
    ...(causesOf && { causes: causesOf(concernedOf(movement, evidence, { startMs, endMs })) }),
  }
}

/** The marks by which something is known to have concerned a movement. */
function concernedOf(
  { id, txHash, toAddress, blockchain }: Movement,
  { requests, events, attempts, blocks, operation, crosschain }: MovementEvidence,
  span: { startMs: number; endMs: number | undefined },
): Parameters<CausesOf>[0] {
  const names = [
    ...[id, txHash, toAddress, operation?.bundleId, operation?.userOpHash],
    ...requests.map(({ requestId }) => requestId),
    ...events.map(({ requestId }) => requestId),
    ...attempts.map((attempt) => attempt.txHash),
    ...blocks.map(({ blockHash }) => blockHash),
    ...(crosschain?.uses ?? []).flatMap((use) => [use.txHash, use.blockHash]),
    ...(crosschain?.carriers ?? []).flatMap((carrier) => [
      carrier.id,
      ...carrier.attempts.map((attempt) => attempt.txHash),
    ]),
  ].filter((name) => name !== undefined && name !== null)
  return {
    ...span,
    names: new Set(names.map((name) => name.toLowerCase())),
    blockchain,
    blockNumber: blocks.length === 0 ? undefined : Math.min(...blocks.map(({ blockNumber }) => blockNumber)),
  }
}

type LaneParts = {
  movement: Movement
  endMs: number | undefined
  amountOf: (amount: ShownAmount) => string
  acts: readonly RecordedEvent[]
  asOfMs: number
  shiftMs: number
  /** Stays of the blocks that hold its own transaction. */
  stays: readonly BlockStay[]
}

const crosschainText = ({
  movement,
  amountOf,
  asOfMs,
  shiftMs,
}: Omit<LaneParts, 'endMs'>): CrosschainText => ({
  movement,
  amount: (amountAtomic) => amountOf({ ...movement, amountAtomic }),
  asOfMs,
  shiftMs,
})

/** The lanes from the request to the endpoints. A block that is not final when its movement is done counts until then. */
function lanesOf(evidence: MovementEvidence, parts: LaneParts): TimelineLane[] {
  const { movement, endMs, amountOf, acts, asOfMs, shiftMs } = parts
  const { attempts, blocks, events, holds, facts, crosschain } = evidence
  const stays = parts.stays.map((stay): BlockStay => {
    // A burn may be minted long before its block is final.
    const isOpen = stay.toMs === undefined && endMs !== undefined && !crosschain
    return isOpen ? { ...stay, toMs: Math.max(stay.fromMs, endMs) } : stay
  })
  const ours = new Set([
    ...attempts.map(({ txHash }) => txHash),
    ...(attempts.length === 0 ? [movement.txHash] : []),
    // Any account may burn and mint.
    ...(crosschain ? blocks.map(({ txHash }) => txHash) : []),
  ])
  const held = blockLanes(stays, ours as ReadonlySet<string>)
  const own = crosschain ? onChain(held, movement.blockchain) : held
  const ownIds = new Set(own.map(({ id }) => id))
  const crossing = crosschain ? crosschainLanes(crosschain, parts.stays, crosschainText(parts)) : []
  return [
    ...requestLanes(evidence.requests),
    ...idempotencyLanes(evidence.bindings),
    ...policyLanes(evidence.decisions),
    ...screeningLanes(events),
    ...actLanes(acts),
    ...holdLanes(holds, amountOf),
    ...operationLanes(evidence),
    ...attemptLanes(attempts, stays, events, endMs),
    ...own,
    ...crossing.filter(({ id }) => !ownIds.has(id)),
    ...ledgerLanes(facts, evidence.entries, amountOf),
    ...linkedLanes(evidence),
    ...linkedMovementLanes(evidence.linked, (txHash) => {
      const seen = [...stays, ...(crosschain?.uses ?? [])].filter((stay) => stay.txHash === txHash)
      return seen.length === 0 ? asOfMs : Math.min(...seen.map(({ fromMs }) => fromMs))
    }),
    ...endpointLanes(evidence.deliveries, shiftMs),
  ]
}

/** The user operation of a smart account. The attempts of the timeline are those of the treasury's transaction that carries it. */
const operationLanes = ({ operation, events }: MovementEvidence): TimelineLane[] =>
  operation === undefined
    ? []
    : [
        {
          id: 'operation',
          kind: 'operation',
          title: 'User operation',
          note: operation.userOpHash,
          spans: [],
          marks: events.slice(0, 1).map(({ recordedAt }) => ({
            atMs: instantMs(recordedAt),
            what: operation.state,
            tone: operation.endReason === null ? ('info' as const) : ('bad' as const),
            text:
              operation.endReason ??
              (operation.bundleId === null
                ? 'It waits for a transaction of the treasury that carries it.'
                : 'A transaction of the treasury carries it.'),
            refs: {
              userOpHash: operation.userOpHash,
              ...(operation.bundleId !== null && { bundleId: operation.bundleId }),
            },
          })),
        },
      ]

const linkTitles = {
  paymentIntent: 'Payment intent',
  payment: 'Payment',
  transfer: 'Transfer',
  sweep: 'Sweep',
} as const

const linkedLanes = ({ links }: MovementEvidence): TimelineLane[] =>
  links.map(({ kind, id, createDate }) =>
    linkedLane(id, linkTitles[kind], {
      atMs: instantMs(createDate),
      text: `${linkTitles[kind]} ${id} moves the same money.`,
      refs: { [`${kind}Id`]: id },
    }),
  )

/** The state that an event tells, in the spelling of the movement; the part of its type after the dot where no member names one. */
function stateOf({ type, data }: RecordedEvent): string {
  const { state, status } = data
  return String(state ?? status ?? type.slice(type.indexOf('.') + 1))
}

const stateNames = (movement: Movement) => {
  const known = new Set(statesOf(movement))
  return (state: string) => known.has(state)
}

const changeOf = (event: RecordedEvent): StateChange => ({
  state: stateOf(event),
  atMs: instantMs(event.recordedAt),
  eventId: event.id,
})

/** `decimals`: those of the amount, where it is not in the units of its token in the books. */
type ShownAmount = {
  amountAtomic: bigint
  tokenId: string | null
  currency: string | null
  decimals?: number | null
}

/** How amounts are written: in whole tokens, with their symbol. */
async function amountTexts(ctx: EngineCtx, of: readonly Omit<ShownAmount, 'amountAtomic'>[]) {
  const ids = [...new Set(of.flatMap(({ tokenId }) => (tokenId === null ? [] : [tokenId])))]
  const tokens = new Map(
    (ids.length === 0 ? [] : await tokensByIds(ctx.db, ids)).map((token) => [token.id, token]),
  )
  return ({ amountAtomic, tokenId, currency, decimals: own }: ShownAmount): string => {
    const token = tokenId === null ? undefined : tokens.get(tokenId)
    const decimals = own ?? token?.decimals ?? (currency === null ? 0 : currencyDecimals)
    return `${formatAmount(amountAtomic, decimals)} ${token?.symbol ?? currency ?? 'of an NFT'}`
  }
}
