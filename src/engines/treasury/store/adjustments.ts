import { type Db, jsonOf, sql } from '#runtime/db/db'

/** One correction of the books, as it was booked. */
export type AdjustmentRow = {
  entityId: string
  id: string
  /** Empty, as the address, where money is corrected. */
  blockchain: string
  address: string
  tokenId: string | null
  currency: string | null
  /** The amount that the books lacked, in base units; negative when they had too much. */
  amount: bigint
  reason: string
  actor: string
  createDate: string
}

/** One operator at a time corrects the books, until the `tx` ends. */
export const lockAdjustments = (tx: Db) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended('adjustments', 0))`)

export const insertAdjustments = (tx: Db, rows: readonly AdjustmentRow[]) =>
  tx.run(sql`insert into adjustments (entity_id, id, blockchain, address, token_id, currency, amount, reason, actor,
      create_date)
    select * from jsonb_to_recordset(${jsonOf(rows)}::jsonb) as row("entityId" uuid, id uuid, blockchain text,
      address text, "tokenId" uuid, currency text, amount numeric, reason text, actor text, "createDate" timestamptz)`)
