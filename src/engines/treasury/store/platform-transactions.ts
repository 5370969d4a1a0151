import { type Db, sql } from '#runtime/db/db'

/** The hash of a transaction from a treasury. */
export type SentTransaction = { entityId: string; txHash: string }

/** Whether the transaction of a disbursement or sweep exists: it has the same id. */
export async function hasTransaction(
  tx: Db,
  { entityId, id }: { entityId: string; id: string },
): Promise<boolean> {
  const found = await tx.maybe(
    sql`select 1 from platform_transactions where entity_id = ${entityId} and id = ${id}`,
  )
  return found !== undefined
}

/**
 * Whether a transaction `t` ended: COMPLETE, or ended without effect, in a block up to `completeTo` or in none. A block
 * orphaned since does not count; the transaction may not reflect that reorg yet.
 */
export const hasEnded = (completeTo: number) =>
  sql`(t.state = 'COMPLETE'
      or (t.state in ('FAILED', 'DENIED', 'CANCELLED') and (t.block_number is null or t.block_number <= ${completeTo})))
    and (t.block_hash is null or not exists (select 1 from orphaned_blocks b
      where b.blockchain = t.blockchain and b.hash = t.block_hash))`

/** The few transactions in progress: `offset 0` keeps the planner from beginning with the rows that they are joined with. */
export const inProgress = sql`(select entity_id, id from platform_transactions
  where state <> 'COMPLETE' and state in ('QUEUED', 'SENT', 'STUCK') offset 0)`

/** Whether the platform itself sent a transaction for the entity. */
export async function sendsTransaction(db: Db, { entityId, txHash }: SentTransaction): Promise<boolean> {
  const found = await db.maybe(
    sql`select 1 from platform_transactions where entity_id = ${entityId} and tx_hash = ${txHash} limit 1`,
  )
  return found !== undefined
}
