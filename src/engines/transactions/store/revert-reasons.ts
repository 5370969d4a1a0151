import type { Hex } from '#lib/hex'
import { formatInstant } from '#lib/time'
import { type Db, type Sql, sql } from '#runtime/db/db'
import { isNotDeferred, type Turn, takeInTurns } from '#runtime/turns/store'

/** A transaction that reverted in its block, with its call. */
export type RevertedTransaction = {
  entityId: string
  id: string
  address: Hex
  callTo: Hex | null
  callValue: bigint
  callData: Buffer
  gasLimit: bigint
  txHash: string
  blockHash: string
  blockNumber: number
  updateDate: string
}

/** Reverted transactions without a revert reason that are not deferred, newest first; entities take turns. */
export function withoutRevertReason(
  db: Db,
  turn: Turn,
  blockchain: string,
  limit: number,
): Promise<RevertedTransaction[]> {
  const attempt = sql`a.entity_id = q.entity_id and a.blockchain = q.blockchain and a.tx_hash = q.tx_hash`
  const isUnexplainedOf = (entityId: Sql) => sql`q.blockchain = ${blockchain} and q.state = 'FAILED'
    and q.error_reason = 'FAILED_ON_CHAIN' and q.error_details is null
    and ${isNotDeferred(turn.queue, blockchain, entityId, sql`q.id::text`)}`
  const where = sql`${isUnexplainedOf(sql`q.entity_id`)} and exists (select 1 from attempts a where ${attempt})`
  const take = (entityId: string, max: number) =>
    db.all<RevertedTransaction>(sql`select q.entity_id, q.id, q.address, q.call_to, q.call_value, q.call_data, a.gas_limit, q.tx_hash,
      q.block_hash, q.block_number, q.update_date
    from transactions q join attempts a on ${attempt}
    where q.entity_id = ${entityId} and ${isUnexplainedOf(sql`${entityId}`)}
    order by q.update_date desc limit ${max}`)
  return takeInTurns(db, turn, { from: sql`transactions q`, where, take }, limit)
}

/** Writes the reasons, unless the block was orphaned meanwhile. Returns the transactions that have one now. */
export const recordRevertReasons = (
  tx: Db,
  nowMs: number,
  rows: readonly (RevertedTransaction & { details: string })[],
) =>
  tx.all<{ entityId: string; id: string; updateDate: string; errorDetails: string }>(
    sql`update transactions t set error_details = n.d, update_date = ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.blockHash)}::text[], ${rows.map((row) => row.details.slice(0, 1000))}::text[]) as n(e, i, b, d)
    where t.entity_id = n.e and t.id = n.i and t.block_hash = n.b and t.state = 'FAILED' and t.error_details is null
    returning t.entity_id, t.id, t.update_date, t.error_details`,
  )
