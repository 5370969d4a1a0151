import { formatInstant } from '#lib/time'

export type IntentStatus = 'created' | 'pending' | 'active' | 'complete' | 'expired' | 'failed' | 'refunded'

export type IntentContext = 'paid' | 'underpaid' | 'overpaid'

type IntentReason = 'requested_by_merchant' | 'fee_collection_failed'

export type TimelineEntry = {
  status: IntentStatus
  time: string
  context?: IntentContext
  reason?: IntentReason
}

/** The state that determines the next timeline entry. Amounts are base units of the intent's currency. */
export type IntentState = {
  type: 'continuous' | 'transient'
  status: IntentStatus
  context: IntentContext | null
  amount: bigint | null
  amountPaid: bigint
  expiresOn: string | null
  /** Reason of the newest entry. */
  reason?: IntentReason | undefined
}

/** Returns the first two entries, newest first: the deposit address exists as soon as the intent does. */
export function openingTimeline(type: IntentState['type'], nowMs: number): TimelineEntry[] {
  const time = formatInstant(nowMs)
  return [
    { status: type === 'continuous' ? 'active' : 'pending', time },
    { status: 'created', time },
  ]
}

/** Whether money that is seen now, in the intent's currency, counts towards it. */
export function takesMoney(intent: IntentState, nowMs: number): boolean {
  if (intent.type === 'continuous') return intent.status === 'active'
  if (intent.status === 'pending') return true
  return intent.status === 'complete' && isOpen(intent, nowMs)
}

/** Returns the entry for a changed `amountPaid`, if any. Continuous intents stay active regardless of their payments. */
export function entryAfterCredit(intent: IntentState, nowMs: number): TimelineEntry | undefined {
  if (intent.type === 'continuous' || intent.amount === null) return undefined
  if (intent.status === 'failed' || intent.status === 'refunded') return undefined
  const next = isClosedOnRequest(intent)
    ? closedOnRequest(intent, intent.amount)
    : statusAfterCredit(intent, intent.amount, nowMs)
  if (next.status === intent.status && (next.context ?? null) === intent.context) return undefined
  return { ...next, time: formatInstant(nowMs) }
}

function statusAfterCredit(intent: IntentState, amount: bigint, nowMs: number): Omit<TimelineEntry, 'time'> {
  if (intent.amountPaid > amount) return { status: 'complete', context: 'overpaid' }
  if (intent.amountPaid === amount) return { status: 'complete', context: 'paid' }
  // Short of the amount: still pending, or pending again after a reorg removed a payment.
  if (intent.status === 'pending' || isOpen(intent, nowMs)) return { status: 'pending' }
  return closing(intent)
}

/** The entry of an intent whose window closes before it was paid in full. */
export const entryAtExpiry = (intent: IntentState, nowMs: number): TimelineEntry => ({
  ...closing(intent),
  time: formatInstant(nowMs),
})

/** Returns the entry of an intent that its merchant closes. Payments seen before still count and change the context. */
export const entryOnRequest = (intent: IntentState, amount: bigint, nowMs: number): TimelineEntry => ({
  ...closedOnRequest(intent, amount),
  time: formatInstant(nowMs),
})

export const isClosedOnRequest = ({ status, reason }: IntentState) =>
  status === 'expired' && reason === 'requested_by_merchant'

const closedOnRequest = ({ amountPaid }: IntentState, amount: bigint): Omit<TimelineEntry, 'time'> => ({
  status: 'expired',
  context: amountPaid === amount ? 'paid' : amountPaid < amount ? 'underpaid' : 'overpaid',
  reason: 'requested_by_merchant',
})

const closing = (intent: IntentState): Omit<TimelineEntry, 'time'> => ({
  status: intent.amountPaid > 0n ? 'complete' : 'expired',
  context: 'underpaid',
})

const isOpen = (intent: IntentState, nowMs: number) =>
  intent.expiresOn !== null && intent.expiresOn > formatInstant(nowMs)
