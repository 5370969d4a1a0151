import type { ManagedPurpose } from '#custody/wallets/index'
import { type Db, sql } from '#runtime/db/db'

/** Transfers of one token from or to one kind of managed address, over some blocks. */
export type TransferTotals = {
  purpose: ManagedPurpose
  direction: 'in' | 'out'
  tokenId: string
  count: number
  amountAtomic: bigint
}

/** Sums the transfers in canonical blocks above `number`, by kind of address. */
export const transferTotalsAbove = (db: Db, blockchain: string, number: number) =>
  db.all<TransferTotals>(sql`select o.purpose, o.direction, o.token_id, count(*) as count, sum(o.amount) as amount_atomic
    from blocks b join observed_transfers o on o.blockchain = b.blockchain and o.block_hash = b.hash
    where b.blockchain = ${blockchain} and b.canonical and b.number > ${number} group by 1, 2, 3 order by 1, 2, 3`)

export type SentTotals = { count: number; feesAtomic: bigint }

/** Number and total fee of the transactions of managed addresses in canonical blocks above `number`. */
export const sentTotalsAbove = (db: Db, blockchain: string, number: number) =>
  db.one<SentTotals>(sql`select count(*) as count, coalesce(sum(o.fee), 0) as fees_atomic
    from blocks b join observed_transactions o on o.blockchain = b.blockchain and o.block_hash = b.hash
    where b.blockchain = ${blockchain} and b.canonical and b.number > ${number}`)

/** The entities whose books changed in canonical blocks above `number`. */
export const entitiesAbove = async (db: Db, blockchain: string, number: number): Promise<string[]> => {
  const rows = await db.all<{ entityId: string }>(sql`select distinct p.entity_id
    from blocks b join posted_entries p on p.blockchain = b.blockchain and p.block_hash = b.hash
    where b.blockchain = ${blockchain} and b.canonical and b.number > ${number} order by 1`)
  return rows.map(({ entityId }) => entityId)
}
