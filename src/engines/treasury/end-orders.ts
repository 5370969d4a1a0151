import { post, resolveHolds, walletEntries } from '#engines/ledger/index'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { actor } from './credit.ts'
import { type Ending, type Order, setEnding } from './store/orders.ts'

/**
 * Ends orders, in the `tx` that holds their rows: the money leaves the merchant's books, or what was held is free again.
 * Returns how many.
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
      type: `${order.kind}.${status}`,
      resourceId: order.id,
      data: { status, ...(errorCode !== undefined && { errorCode }) },
    })),
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
