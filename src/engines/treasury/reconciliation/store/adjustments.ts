import { type Db, sql } from '#runtime/db/db'
import { nullable, numeric, type RowOf, table, text, timestamptz, uuid } from '#runtime/db/table'

/** One booked adjustment of the ledger. */
export type AdjustmentRow = RowOf<typeof adjustments>

const adjustments = table('adjustments', {
  entityId: uuid,
  id: uuid,
  /** Empty for an adjustment of money, like `address`. */
  blockchain: text,
  address: text,
  tokenId: nullable(uuid),
  currency: nullable(text),
  /** The amount that the ledger lacked, in base units; negative when it had too much. */
  amount: numeric,
  reason: text,
  actor: text,
  createDate: timestamptz,
})

/** Serializes adjustments by operators until the `tx` ends. */
export const lockAdjustments = (tx: Db) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended('adjustments', 0))`)

export const insertAdjustments = (tx: Db, rows: readonly AdjustmentRow[]) => tx.run(adjustments.insert(rows))
