import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { type Change, recordChanges } from '#runtime/record/store'
import type { Turn } from '#runtime/turns/store'
import { actor } from '../actor.ts'
import { intentOfPayment, type Payment } from '../deposits/store/payments.ts'
import {
  type IntentKey,
  lockExpiredIntents,
  lockPaymentIntents,
  type PaymentIntent,
  updateStandings,
} from './store.ts'
import {
  entryAfterCredit,
  entryAtExpiry,
  entryOnRequest,
  isClosedOnRequest,
  type TimelineEntry,
} from './timeline.ts'

/** Adds settled payments to the paid amounts of their intents; `sign` -1 subtracts them after a reorg. */
export async function creditIntents(tx: Db, nowMs: number, payments: readonly Payment[], sign: 1n | -1n) {
  const sums = new Map<string, bigint>()
  for (const { paymentIntentId: id, amount } of payments)
    if (id !== null) sums.set(id, (sums.get(id) ?? 0n) + sign * amount)
  if (sums.size === 0) return
  const keys = payments.flatMap(({ entityId, paymentIntentId: id }) =>
    id === null ? [] : [{ entityId, id }],
  )
  const standings = (await lockPaymentIntents(tx, keys)).map((intent): Standing => {
    const credited = { ...intent, amountPaid: intent.amountPaid + sums.get(intent.id)! }
    const { reason } = intent.timeline[0]!
    const entry = entryAfterCredit({ ...credited, reason }, nowMs)
    return { intent: credited, entry, type: 'paymentIntent.credited' }
  })
  await saveStandings(tx, nowMs, standings)
}

/** Adds an accepted refund to the refunded amount of its intent. The first refund ends the intent for good. */
export async function addRefund(
  tx: Db,
  nowMs: number,
  intent: PaymentIntent,
  amount: bigint,
  by: { actor: string; requestId: string },
): Promise<void> {
  const refunded = { ...intent, amountRefunded: intent.amountRefunded + amount }
  const entry = { status: 'refunded', time: formatInstant(nowMs) } as const
  await saveStandings(tx, nowMs, [
    { intent: refunded, entry: intent.status === 'refunded' ? undefined : entry, by },
  ])
}

/**
 * Changes the refunded amounts of intents: `sign` -1 for failed refunds, so that the amount can be refunded again, and 1 when
 * a reorg reopens a failed refund.
 */
export async function takeRefunds(
  tx: Db,
  nowMs: number,
  refunds: readonly { entityId: string; id: string; amount: bigint }[],
  sign: 1n | -1n,
): Promise<void> {
  for (const { entityId, id, amount } of refunds) {
    const intentId = await intentOfPayment(tx, entityId, id)
    const [intent] = await lockPaymentIntents(tx, [{ entityId, id: intentId }])
    const changed = { ...intent!, amountRefunded: intent!.amountRefunded + sign * amount }
    await saveStandings(tx, nowMs, [{ intent: changed }])
  }
}

/** Closes transient intents whose window has passed. Returns their number, at most `limit`. */
export async function expireIntents(tx: Db, turn: Turn, nowMs: number, limit: number): Promise<number> {
  const expired = await lockExpiredIntents(tx, turn, formatInstant(nowMs), limit)
  const standings = expired.map((intent) => ({ intent, entry: entryAtExpiry(intent, nowMs) }))
  await saveStandings(tx, nowMs, standings)
  return expired.length
}

/**
 * Closes a pending transient intent at its merchant's request; one that is already closed that way is returned unchanged.
 * `unknown`: there is no such intent; `cannot`: it is continuous, or ended for another reason.
 */
export async function expireOnRequest(
  tx: Db,
  nowMs: number,
  { entityId, id, ...by }: IntentKey & { actor: string; requestId: string },
): Promise<PaymentIntent | 'unknown' | 'cannot'> {
  const [intent] = await lockPaymentIntents(tx, [{ entityId, id }])
  if (!intent) return 'unknown'
  const { reason } = intent.timeline[0]!
  if (isClosedOnRequest({ ...intent, reason })) return intent
  if (intent.status !== 'pending' || intent.amount === null) return 'cannot'
  const closed = { ...intent, expiresOn: formatInstant(nowMs) }
  const standing = { intent: closed, entry: entryOnRequest(intent, intent.amount, nowMs), by }
  return (await saveStandings(tx, nowMs, [standing]))[0]!
}

type Standing = {
  intent: PaymentIntent
  entry?: TimelineEntry | undefined
  /** An event in addition to that of the entry. */
  type?: string
  by?: { actor: string; requestId: string }
}

async function saveStandings(
  tx: Db,
  nowMs: number,
  standings: readonly Standing[],
): Promise<PaymentIntent[]> {
  if (standings.length === 0) return []
  const changed = standings.map(({ intent, entry }) => ({
    ...intent,
    ...(entry && {
      status: entry.status,
      context: entry.context ?? null,
      timeline: [entry, ...intent.timeline],
    }),
    updateDate: formatInstant(nowMs),
  }))
  const saved = await updateStandings(tx, changed)
  const changes = standings.flatMap(({ intent, entry, type, by = { actor } }): Change[] => {
    const { entityId, id: resourceId } = intent
    const change = { entityId, ...by, resourceId }
    return [
      ...(type ? [{ ...change, type, data: { amountPaid: String(intent.amountPaid) } }] : []),
      ...(entry ? [{ ...change, type: `paymentIntent.${entry.status}`, data: entry }] : []),
    ]
  })
  await recordChanges(tx, nowMs, changes)
  return saved
}
