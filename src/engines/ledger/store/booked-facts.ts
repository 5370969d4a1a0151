import { type Db, type Sql, sql } from '#runtime/db/db'
import type { AccountKind } from './accounts.ts'

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

/** The change of one account by a posting, with the unit of the account. */
export type BookedEntry = {
  postingId: string
  kind: AccountKind
  /** Empty for kinds that have none. */
  address: string
  tokenId: string | null
  currency: string | null
  amountAtomic: bigint
}

/** Returns the entries of postings; those of each posting in the order of their accounts. */
export const entriesOfPostings = (db: Db, entityId: string, postingIds: readonly string[]) =>
  db.all<BookedEntry>(
    sql`select e.posting_id, a.kind, a.address, a.token_id, a.currency, e.amount as amount_atomic
      from entries e join accounts a on a.entity_id = e.entity_id and a.id = e.account_id
      where e.entity_id = ${entityId} and e.posting_id = any(${postingIds}::uuid[])
      order by e.posting_id, a.kind, a.address, e.account_id`,
  )

/** Returns the facts of a merchant's money of these names. */
export const factsOfMoney = (db: Db, entityId: string, facts: readonly string[]) =>
  db.all<BookedFact>(
    factsWhere(sql`p.entity_id = ${entityId} and p.block_hash = '' and p.fact = any(${facts}::text[])`),
  )
