import type { Hex } from '#lib/hex'
import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'

/** A transaction that its block reverted, and what it did. */
export type Reverted = {
  entityId: string
  id: string
  address: Hex
  callTo: Hex
  callValue: bigint
  callData: Buffer
  gasLimit: bigint
  blockHash: Hex
  updateDate: string
}

/** Those of which nobody has asked why. */
export const unexplained = (db: Db, blockchain: string, limit: number) =>
  db.all<Reverted>(sql`select t.entity_id as "entityId", t.id, t.address, t.call_to as "callTo", t.call_value as "callValue",
      t.call_data as "callData", a.gas_limit as "gasLimit", t.block_hash as "blockHash",
      t.update_date as "updateDate"
    from transactions t
    join attempts a on a.entity_id = t.entity_id and a.blockchain = t.blockchain and a.tx_hash = t.tx_hash
    where t.blockchain = ${blockchain} and t.state = 'FAILED' and t.error_reason = 'FAILED_ON_CHAIN'
      and t.error_details is null order by t.update_date desc limit ${limit}`)

/** Writes the reason, unless its block was orphaned meanwhile. */
export async function explain(
  db: Db,
  nowMs: number,
  rows: readonly (Reverted & { details: string })[],
): Promise<void> {
  if (rows.length === 0) return
  await db.run(sql`update transactions t set error_details = n.d, update_date = ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.blockHash)}::text[], ${rows.map((row) => row.details.slice(0, 1000))}::text[]) as n(e, i, b, d)
    where t.entity_id = n.e and t.id = n.i and t.block_hash = n.b and t.state = 'FAILED' and t.error_details is null`)
}
