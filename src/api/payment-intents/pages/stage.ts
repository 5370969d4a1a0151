import type { PaymentIntent } from '#engines/treasury/payment-intents/index'

/** How far a payment is, as the API documents it. */
export type PaymentStage =
  | 'waiting'
  | 'underpaid'
  | 'confirming'
  | 'received'
  | 'paid'
  | 'overpaid'
  | 'endedUnderpaid'
  | 'expired'
  | 'cancelled'
  | 'failed'
  | 'refunded'

/**
 * The stage of an intent for its customer, who sees coins as soon as a block has them: `seen` is what is not settled yet. What is
 * short when the time is over has ended, also before the engine ends it.
 */
export function stageOf(intent: PaymentIntent, seen: bigint, nowMs: number): PaymentStage {
  const { status, context, timeline, amountPaid } = intent
  if (status === 'failed' || status === 'refunded') return status
  if (intent.amount === null) return seen > 0n ? 'confirming' : amountPaid > 0n ? 'received' : 'waiting'
  if (status === 'expired') return timeline[0]?.reason === 'requested_by_merchant' ? 'cancelled' : 'expired'
  if (status === 'complete' && context === 'underpaid') return 'endedUnderpaid'
  if (status === 'complete') return context === 'overpaid' ? 'overpaid' : 'paid'
  if (amountPaid + seen >= intent.amount) return 'confirming'
  const isOver = intent.expiresOn !== null && Date.parse(intent.expiresOn) <= nowMs
  if (amountPaid + seen > 0n) return isOver ? 'endedUnderpaid' : 'underpaid'
  return isOver ? 'expired' : 'waiting'
}

const unpaid: readonly PaymentStage[] = ['waiting', 'underpaid']

/** Whether the customer should pay now. What asks for no amount is paid as often as customers like. */
export const asksForPayment = ({ amount, status }: PaymentIntent, stage: PaymentStage): boolean =>
  amount === null ? status === 'active' : unpaid.includes(stage)
