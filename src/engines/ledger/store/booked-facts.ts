import { type Db, type Sql, sql } from '#runtime/db/db'

/** A posting without its entries. */
export type BookedFact = {
  id: string
  fact: string
  blockHash: string
  /** The posting that this one takes back. */
  reversesId: string | null
  recordedAt: string
}

const factsWhere = (condition: Sql) => sql`select p.id, p.fact, p.block_hash, p.reverses_id,
    coalesce(p.recorded_at, p.create_date) as recorded_at
  from postings p where ${condition} order by p.create_date, p.id`

/** Returns the facts of transactions in blocks, and their reversals. The names of such facts end with the hash. */
export const factsOfBlocks = (
  db: Db,
  entityId: string,
  blockchain: string,
  blockHashes: readonly string[],
  txHashes: readonly string[],
) =>
  db.all<BookedFact>(
    factsWhere(sql`p.blockchain = ${blockchain} and p.block_hash = any(${blockHashes}::text[])
      and p.entity_id = ${entityId} and split_part(p.fact, ':', -1) = any(${txHashes}::text[])`),
  )

/** Returns the facts of a merchant's money of these names. */
export const factsOfMoney = (db: Db, entityId: string, facts: readonly string[]) =>
  db.all<BookedFact>(
    factsWhere(sql`p.entity_id = ${entityId} and p.block_hash = '' and p.fact = any(${facts}::text[])`),
  )
