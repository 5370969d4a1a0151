import { post, resolveHolds, walletEntries } from '#engines/ledger/index'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { actor } from '../actor.ts'
import { changeRefunded } from '../payment-intents/refund-payment-intents.ts'
import { type Ending, type Order, type OrderKind, setEnding } from './store/disbursements.ts'

/**
 * Ends orders in the `tx` that locks their rows: a complete order debits the merchant's wallet, a failed one releases its
 * hold. Returns the number of orders.
 */
export async function endOrders(
  tx: Db,
  nowMs: number,
  ended: readonly (Ending & { order: Order })[],
): Promise<number> {
  const at = formatInstant(nowMs)
  for (const { order, ...ending } of ended) await setEnding(tx, order, ending, at)
  await recordChanges(
    tx,
    nowMs,
    ended.map(({ order, status, errorCode }) => ({
      entityId: order.entityId,
      actor,
      type: eventOf(order.kind, status),
      resourceId: order.id,
      data: { status, ...(errorCode !== undefined && { errorCode }) },
    })),
  )
  await changeRefunded(
    tx,
    nowMs,
    ended.flatMap(({ order, status }) => (order.kind === 'refund' && status === 'failed' ? [order] : [])),
    -1n,
  )
  const paid = ended.filter(({ status }) => status === 'complete')
  await post(
    tx,
    nowMs,
    paid.map(({ order: { kind, entityId, id, walletId, currency, amount } }) => ({
      entityId,
      blockchain: '',
      blockHash: '',
      fact: `${kind}:${id}`,
      entries: walletEntries(walletId, currency, -amount),
    })),
  )
  await resolveHolds(
    tx,
    nowMs,
    ended.map(({ order: { entityId, id: intentId }, status }) => ({
      entityId,
      intentId,
      purpose: 'money' as const,
      outcome: status === 'complete' ? ('posted' as const) : ('voided' as const),
    })),
  )
  return ended.length
}

/** Returns the event type of an order's status. The API presents a refund as a payment. */
export const eventOf = (kind: OrderKind, status: 'pending' | 'complete' | 'failed'): string => {
  if (kind !== 'refund') return `${kind}.${status}`
  return status === 'complete' ? 'payment.paid' : `payment.${status}`
}
