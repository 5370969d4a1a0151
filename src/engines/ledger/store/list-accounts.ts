import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, listedWord, sql } from '#runtime/db/db'
import type { AccountKind } from './accounts.ts'
import { currencyDecimals } from './money.ts'

export type Account = {
  id: string
  kind: AccountKind
  tokenId: string | null
  currency: string | null
  /** Of the token. */
  symbol: string | null
  blockchain: string
  address: string
  postedAtomic: bigint
  heldAtomic: bigint
  decimals: number
  createDate: string
}

type AccountFilters = {
  kind?: AccountKind | undefined
  blockchain?: string | undefined
  address?: string | undefined
  tokenId?: string | undefined
}

const columns = sql`a.id, a.kind, a.token_id, a.currency, t.symbol, a.blockchain, a.address, a.posted as posted_atomic,
  a.held as held_atomic, coalesce(t.decimals, ${currencyDecimals}) as decimals, a.create_date`
const source = sql`accounts a left join tokens t on t.id = a.token_id`

export const findAccount = (db: Db, entityId: string, id: string) =>
  db.maybe<Account>(sql`select ${columns} from ${source} where a.entity_id = ${entityId} and a.id = ${id}`)

/** The accounts of one entity, newest first. */
export const accountsPage = (db: Db, entityId: string, filters: AccountFilters, page: PageQuery) =>
  readPage<Account>(
    db,
    {
      columns,
      from: source,
      alias: 'a',
      // The second condition is the one of the partial index.
      scope: sql`a.entity_id = ${entityId} and a.kind <> ''`,
      filters: [
        filters.kind === undefined ? undefined : sql`a.kind = ${listedWord(filters.kind)}`,
        filters.blockchain === undefined ? undefined : sql`a.blockchain = ${filters.blockchain}`,
        filters.address === undefined ? undefined : sql`a.address = ${filters.address}`,
        filters.tokenId === undefined ? undefined : sql`a.token_id = ${filters.tokenId}`,
      ],
    },
    page,
  )
