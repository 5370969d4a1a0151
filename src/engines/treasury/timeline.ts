import { formatInstant } from '#lib/time'

export type IntentStatus = 'created' | 'pending' | 'active' | 'complete' | 'expired' | 'failed' | 'refunded'

export type IntentContext = 'paid' | 'underpaid' | 'overpaid'

export type IntentReason = 'requested_by_merchant' | 'fee_collection_failed'

export type TimelineEntry = {
  status: IntentStatus
  time: string
  context?: IntentContext
  reason?: IntentReason
}

/** What the next timeline entry depends on. Amounts are base units of the intent's currency. */
export type IntentStanding = {
  type: 'continuous' | 'transient'
  status: IntentStatus
  context: IntentContext | null
  amount: bigint | null
  amountPaid: bigint
  expiresOn: string | null
  /** Of the newest entry. */
  reason?: IntentReason | undefined
}

/** The first two entries, newest first: the address is there as soon as the intent is. */
export function openingTimeline(type: IntentStanding['type'], nowMs: number): TimelineEntry[] {
  const time = formatInstant(nowMs)
  return [
    { status: type === 'continuous' ? 'active' : 'pending', time },
    { status: 'created', time },
  ]
}

/** Whether money that is seen now, in the intent's currency, counts towards it. */
export function takesMoney(intent: IntentStanding, nowMs: number): boolean {
  if (intent.type === 'continuous') return intent.status === 'active'
  if (intent.status === 'pending') return true
  return intent.status === 'complete' && isOpen(intent, nowMs)
}

/** The entry that a changed `amountPaid` brings, if any. Continuous intents stay active whatever they receive. */
export function entryAfterCredit(intent: IntentStanding, nowMs: number): TimelineEntry | undefined {
  if (intent.type === 'continuous' || intent.amount === null) return undefined
  if (intent.status === 'failed' || intent.status === 'refunded') return undefined
  const next = isClosedOnRequest(intent)
    ? closedOnRequest(intent, intent.amount)
    : standingAfter(intent, intent.amount, nowMs)
  if (next.status === intent.status && (next.context ?? null) === intent.context) return undefined
  return { ...next, time: formatInstant(nowMs) }
}

function standingAfter(intent: IntentStanding, amount: bigint, nowMs: number): Omit<TimelineEntry, 'time'> {
  if (intent.amountPaid > amount) return { status: 'complete', context: 'overpaid' }
  if (intent.amountPaid === amount) return { status: 'complete', context: 'paid' }
  // Short of the amount: still waiting, also again, after a reorg took money back.
  if (intent.status === 'pending' || isOpen(intent, nowMs)) return { status: 'pending' }
  return closing(intent)
}

/** The entry of an intent whose window closes before it was paid in full. */
export const entryAtExpiry = (intent: IntentStanding, nowMs: number): TimelineEntry => ({
  ...closing(intent),
  time: formatInstant(nowMs),
})

/** The entry of a transient intent that its merchant closes. Money that was seen before still counts, and changes the context. */
export const entryOnRequest = (intent: IntentStanding, amount: bigint, nowMs: number): TimelineEntry => ({
  ...closedOnRequest(intent, amount),
  time: formatInstant(nowMs),
})

export const isClosedOnRequest = ({ status, reason }: IntentStanding) =>
  status === 'expired' && reason === 'requested_by_merchant'

const closedOnRequest = ({ amountPaid }: IntentStanding, amount: bigint): Omit<TimelineEntry, 'time'> => ({
  status: 'expired',
  context: amountPaid === amount ? 'paid' : amountPaid < amount ? 'underpaid' : 'overpaid',
  reason: 'requested_by_merchant',
})

const closing = (intent: IntentStanding): Omit<TimelineEntry, 'time'> => ({
  status: intent.amountPaid > 0n ? 'complete' : 'expired',
  context: 'underpaid',
})

const isOpen = (intent: IntentStanding, nowMs: number) =>
  intent.expiresOn !== null && intent.expiresOn > formatInstant(nowMs)
