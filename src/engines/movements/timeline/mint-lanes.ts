import { attemptLanes, gapsBetween } from './attempt-lanes.ts'
import type { CrosschainText } from './attestation-lanes.ts'
import { blockLanes } from './block-lanes.ts'
import type { Carrier, UseStay } from './crosschain-evidence.ts'
import { instantMs, type Mark, type Span, type TimelineLane } from './types.ts'

/** How coins that were burned, or are to be, are minted on another chain. */
export type Minting = {
  blockchain: string
  amountAtomic: bigint
  /** Since when the attestation allows it, and when it did not any more. */
  fromMs: number | undefined
  toMs: number | undefined
  uses: readonly UseStay[]
  /** Whether this server is paid for it, and how much where that is known. */
  forward: { feeAtomic: bigint | null } | undefined
  carrier: Carrier | undefined
  failure: string | null
  delay: string | null
}

/** The delivery: who does it, what it waits for, why it failed, and the blocks that hold it. */
export function deliveryLane(minting: Minting, text: CrosschainText): TimelineLane[] {
  const { blockchain, fromMs, uses, carrier } = minting
  const stays = distinctStays(uses)
  const waits =
    fromMs === undefined
      ? []
      : gapsBetween(stays, fromMs, minting.toMs).map(
          (gap): Span => ({
            ...gap,
            state: 'waiting',
            tone: minting.failure !== null || minting.delay !== null ? 'warn' : 'info',
            text: waitText(minting, text),
            refs: carrierRefs(carrier),
          }),
        )
  const held = stays.map((stay) => heldSpan(stay, minting, text))
  const spans = [...waits, ...held].sort((one, other) => one.fromMs - other.fromMs)
  if (spans.length === 0) return []
  return [
    {
      id: 'delivery',
      kind: 'delivery',
      title: `Delivery on ${blockchain}`,
      note: minting.forward ? 'by the treasury of this server' : 'by anybody',
      spans,
      marks: failureMarks(minting),
    },
  ]
}

const carrierRefs = (carrier: Carrier | undefined): Record<string, string> =>
  carrier === undefined ? {} : { transactionId: carrier.id }

function waitText(
  { blockchain, amountAtomic, forward, carrier, failure, delay }: Minting,
  { amount, movement }: CrosschainText,
): string {
  const what = `${amount(amountAtomic)} on ${blockchain} for ${movement.toAddress}`
  if (failure !== null)
    return `The treasury of this server did not mint ${what}, because its transaction failed: ${failure}. Anybody can do it.`
  if (!forward) return `Anybody can mint ${what} with the attestation.`
  const fee = forward.feeAtomic === null ? '' : `, for a fee of ${amount(forward.feeAtomic)}`
  if (carrier) return `The treasury of this server sends the transaction that mints ${what}${fee}.`
  return delay === null
    ? `The treasury of this server is to mint ${what}${fee}.`
    : `The treasury of this server waits to mint ${what}: the gas costs more than the fee${forward.feeAtomic === null ? '' : ` of ${amount(forward.feeAtomic)}`} covers.`
}

/** The stays of uses, each once: a transaction may mint or burn for several intents. */
const distinctStays = (uses: readonly UseStay[]): UseStay[] => [
  ...new Map(uses.map((use) => [`${use.blockHash} ${use.txHash} ${use.fromMs}`, use])).values(),
]

function heldSpan(
  stay: UseStay,
  { blockchain, amountAtomic, carrier }: Minting,
  { amount, movement }: CrosschainText,
): Span {
  const { blockNumber, txHash } = stay
  const isOurs = carrier?.attempts.some((attempt) => attempt.txHash === txHash)
  const sender = isOurs ? 'the treasury of this server' : 'somebody else than this server'
  const held = `Block ${blockNumber} of ${blockchain} minted ${amount(amountAtomic)} for ${movement.toAddress} in transaction ${txHash}, sent by ${sender}`
  return useSpan(stay, { state: 'delivered', text: held, refs: isOurs ? carrierRefs(carrier) : {} })
}

/** The span of a block that mints or burns; `text` is without its end, which tells what became of the block. */
export function useSpan(
  { fromMs, toMs, isUndone, blockHash, txHash }: UseStay,
  { state, text, refs }: Pick<Span, 'state' | 'text' | 'refs'>,
): Span {
  const place = { fromMs, toMs, refs: { ...refs, blockHash, txHash } }
  if (isUndone)
    return { ...place, state: 'orphaned', tone: 'bad', text: `${text}, until a reorg took the block back.` }
  const end = toMs === undefined ? 'is not final yet' : 'is final'
  return { ...place, state, tone: 'good', text: `${text}; the block ${end}.` }
}

const ends = ['transaction.failed', 'transaction.denied', 'transaction.cancelled']

function failureMarks({ failure, carrier }: Minting): Mark[] {
  const atMs = carrier && failedMs(carrier)
  if (failure === null || atMs === undefined) return []
  return [
    {
      atMs,
      what: 'failed',
      tone: 'bad',
      text: `The transaction of the treasury failed: ${failure}.`,
      refs: carrierRefs(carrier),
    },
  ]
}

/** When the transaction ended without effect; undefined while it may have one. */
export const failedMs = ({ events }: Carrier): number | undefined => {
  const ended = events.findLast(({ type }) => ends.includes(type))
  return ended && instantMs(ended.recordedAt)
}

/** The attempts of a transaction of the treasury, and the blocks that hold or held one of them. */
export function carrierLanes(
  { attempts, stays, events, blockchain }: Carrier,
  purpose: string,
): TimelineLane[] {
  const ours = new Set(attempts.map(({ txHash }) => txHash))
  return [
    ...attemptLanes(attempts, stays, events, undefined).map((lane) => ({
      ...lane,
      title: `${purpose}, ${lane.title.charAt(0).toLowerCase()}${lane.title.slice(1)}`,
    })),
    ...onChain(blockLanes(stays, ours), blockchain),
  ]
}

/** One lane for each block that holds or held a delivery, mint or burn, by chain. */
export const useLanes = (uses: readonly UseStay[]): TimelineLane[] =>
  [...new Set(uses.map(({ blockchain }) => blockchain))].flatMap((blockchain) => {
    const stays = distinctStays(uses.filter((use) => use.blockchain === blockchain))
    return onChain(blockLanes(stays, new Set(stays.map(({ txHash }) => txHash))), blockchain)
  })

/** Names the chain of blocks where a timeline has blocks of several. */
export const onChain = (lanes: readonly TimelineLane[], blockchain: string): TimelineLane[] =>
  lanes.map((lane) => (lane.kind === 'block' ? { ...lane, title: `${lane.title} of ${blockchain}` } : lane))
