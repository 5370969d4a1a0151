import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, sql } from '#runtime/db/db'
import { type Token, tokenColumns } from './tokens.ts'

/** One token of one address. The token's id is the row's id, and so its cursor. */
export type TokenBalance = Token & { postedAtomic: bigint; tokenCreateDate: string; updateDate: string }

export type BalanceFilters = {
  /** Includes tokens that the entity does not monitor. */
  includeAll?: boolean | undefined
  name?: string | undefined
  tokenAddresses?: readonly string[] | undefined
  standard?: string | undefined
}

export const listBalances = (
  db: Db,
  owner: { entityId: string; blockchain: string; address: string },
  filters: BalanceFilters,
  page: PageQuery,
) =>
  readPage<TokenBalance>(
    db,
    {
      columns: sql`${tokenColumns}, t.posted as "postedAtomic", t.token_create_date as "tokenCreateDate",
        t.update_date as "updateDate"`,
      from: sql`(select k.id, k.blockchain, k.name, k.symbol, k.decimals, k.is_native, k.standard, k.address, k.currency,
          k.create_date as token_create_date, a.entity_id, a.kind, a.address as owner, a.posted, a.create_date, a.update_date
        from accounts a join tokens k on k.id = a.token_id) t`,
      alias: 't',
      scope: sql`t.entity_id = ${owner.entityId} and t.kind = 'address' and t.blockchain = ${owner.blockchain}
        and t.owner = ${owner.address}`,
      filters: [
        filters.includeAll
          ? undefined
          : sql`not exists (select 1 from unmonitored_tokens u where u.entity_id = t.entity_id and u.token_id = t.id)`,
        filters.name === undefined ? undefined : sql`t.name = ${filters.name}`,
        filters.standard === undefined ? undefined : sql`t.standard = ${filters.standard}`,
        filters.tokenAddresses === undefined
          ? undefined
          : sql`t.address = any(${filters.tokenAddresses}::text[])`,
      ],
    },
    page,
  )
