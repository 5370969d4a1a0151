/**
 * Rebalancings in the journals of their transactions: a database that was restored from an older copy gets them again together with
 * the allowance, the burn or the mint, and goes on from there (docs/decisions/0084).
 */
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { actor } from '../act-for-entity.ts'
import { lockRebalancings, type Rebalancing, restoreRebalancing } from './store.ts'

/** A copy as `copyRebalancings` makes it. */
type Copy = { step: string; row: { entity_id: string } }

/** Restores the rebalancings of lost transactions, and takes those of the database as far as their transactions are. */
export async function restoreRebalancings(tx: Db, nowMs: number, copies: readonly string[]): Promise<void> {
  const given = copies.map((copy) => ({ copy, entityId: (JSON.parse(copy) as Copy).row.entity_id }))
  // Others that begin meanwhile would take the shortage or the allowance.
  for (const entityId of [...new Set(given.map((each) => each.entityId))].sort())
    await lockRebalancings(tx, entityId)
  const restored = new Map<string, Rebalancing>()
  for (const { copy, entityId } of given) {
    const row = await restoreRebalancing(tx, entityId, copy, formatInstant(nowMs))
    if (row) restored.set(row.id, row)
  }
  await recordChanges(
    tx,
    nowMs,
    [...restored.values()].map(({ entityId, id: resourceId, status }) => {
      const data = { status, reason: 'restored from a journal' }
      return { entityId, actor, type: 'rebalancing.pending', resourceId, data }
    }),
  )
}
