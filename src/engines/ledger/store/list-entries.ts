import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, sql } from '#runtime/db/db'

/** The change of one account by one posting: positive for a credit, negative for a debit. */
type AccountEntry = {
  /** The id of the posting, which has one entry at most for each account. */
  id: string
  fact: string
  amountAtomic: bigint
  /** Empty for a posting without a block, such as an adjustment. */
  blockHash: string
  reversesId: string | null
  createDate: string
}

/** The entries of one account, newest first. */
export const entriesPage = (db: Db, entityId: string, accountId: string, page: PageQuery) =>
  readPage<AccountEntry>(
    db,
    {
      columns: sql`e.id, p.fact, e.amount as amount_atomic, p.block_hash, p.reverses_id, e.create_date`,
      from: sql`(select entity_id, posting_id as id, account_id, amount, create_date from entries) e
        join postings p on p.entity_id = e.entity_id and p.id = e.id`,
      alias: 'e',
      scope: sql`e.entity_id = ${entityId} and e.account_id = ${accountId}`,
      filters: [],
    },
    page,
  )
