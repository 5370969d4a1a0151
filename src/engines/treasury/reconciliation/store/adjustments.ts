import { type Db, jsonOf, sql } from '#runtime/db/db'

/** One booked adjustment of the ledger. */
export type AdjustmentRow = {
  entityId: string
  id: string
  /** Empty for an adjustment of money, like `address`. */
  blockchain: string
  address: string
  tokenId: string | null
  currency: string | null
  /** The amount that the ledger lacked, in base units; negative when it had too much. */
  amount: bigint
  reason: string
  actor: string
  createDate: string
}

/** Serializes adjustments by operators until the `tx` ends. */
export const lockAdjustments = (tx: Db) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended('adjustments', 0))`)

export const insertAdjustments = (tx: Db, rows: readonly AdjustmentRow[]) =>
  tx.run(sql`insert into adjustments (entity_id, id, blockchain, address, token_id, currency, amount, reason, actor,
      create_date)
    select * from jsonb_to_recordset(${jsonOf(rows)}::jsonb) as row(entity_id uuid, id uuid, blockchain text, address text,
      token_id uuid, currency text, amount numeric, reason text, actor text, create_date timestamptz)`)
