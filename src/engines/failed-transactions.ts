import { type Db, sql } from '#runtime/db/db'

/** A transaction of the platform. */
export type PlatformTransaction = { entityId: string; id: string }

/** A transaction that ended without effect. */
export type FailedTransaction = { id: string; state: 'FAILED' | 'DENIED' | 'CANCELLED'; reason: string }

/**
 * Returns the transactions that ended without effect among those given, by their ids. With `upTo`, those that a block above it has
 * are left out, since they may be undone. Work of the chain keeps the ids of its transactions, and asks here, because its own tables
 * may be on another server than those of a tenant.
 */
export async function failedTransactions(
  db: Db,
  sent: readonly PlatformTransaction[],
  upTo?: number,
): Promise<ReadonlyMap<string, FailedTransaction>> {
  if (sent.length === 0) return new Map()
  const rows = await db.all<FailedTransaction>(sql`select t.id, t.state,
      coalesce(t.error_details, t.error_reason, 'the transaction ended as ' || lower(t.state)) as reason
    from unnest(${sent.map(({ entityId }) => entityId)}::uuid[], ${sent.map(({ id }) => id)}::uuid[]) as n(e, i)
    join platform_transactions t on t.entity_id = n.e and t.id = n.i
    where t.state in ('FAILED', 'DENIED', 'CANCELLED')
      and (t.block_number is null or ${upTo === undefined ? sql`true` : sql`t.block_number <= ${upTo}`})`)
  return new Map(rows.map((row) => [row.id, row]))
}
