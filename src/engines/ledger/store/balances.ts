import { nftStandards } from '#chains/facets/tokens'
import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, sql } from '#runtime/db/db'
import { isAtAddress, type Token, tokenColumns } from '../tokens/store/tokens.ts'

/** One token of one address. The token's id is the row's id, and so its cursor. */
export type TokenBalance = Token & { postedAtomic: bigint; tokenCreateDate: string; updateDate: string }

type BalanceFilters = {
  /** Includes tokens that the entity does not monitor, and those that are named like a listed one. */
  includeAll?: boolean | undefined
  name?: string | undefined
  tokenAddresses?: readonly string[] | undefined
  /** The standard of the token; `null` for the native coin, which has none. */
  standard?: string | null | undefined
}

/**
 * Whether the token `t` is one that its owner is shown by default. `offset` has the view looked up for each token: as a join it
 * reads the tokens of all tenants.
 */
const isShown = sql`not exists (select 1 from hidden_tokens u where u.entity_id = t.entity_id and u.token_id = t.id offset 0)`

const standardCondition = (standard: BalanceFilters['standard']) => {
  if (standard === undefined) return undefined
  return standard === null ? sql`t.is_native` : sql`t.standard = ${standard}`
}

const tokenConditions = ({ name, standard, tokenAddresses }: BalanceFilters) => [
  name === undefined ? undefined : sql`t.name = ${name}`,
  standardCondition(standard),
  tokenAddresses === undefined ? undefined : isAtAddress(tokenAddresses),
]

export const listBalances = (
  db: Db,
  owner: { entityId: string; blockchain: string; address: string },
  filters: BalanceFilters,
  page: PageQuery,
) =>
  readPage<TokenBalance>(
    db,
    {
      columns: sql`${tokenColumns}, t.posted as posted_atomic, t.token_create_date, t.update_date`,
      from: sql`(select k.id, k.blockchain, k.name, k.symbol, k.decimals, k.is_native, k.standard, k.address, k.currency,
          k.listed, k.create_date as token_create_date, a.entity_id, a.kind, a.address as owner, a.posted, a.create_date, a.update_date
        from accounts a join tokens k on k.id = a.token_id and k.item_id is null
          and (k.standard = any(${nftStandards}::text[])) is not true) t`,
      alias: 't',
      scope: sql`t.entity_id = ${owner.entityId} and t.kind = 'address' and t.blockchain = ${owner.blockchain}
        and t.owner = ${owner.address}`,
      filters: [filters.includeAll ? undefined : isShown, ...tokenConditions(filters)],
    },
    page,
  )

/** An NFT of one address, with the token of its contract; without an id where the token itself is the NFT. */
export type ItemBalance = Token & {
  collectionId: string
  itemId: bigint | null
  uri: string | null
  postedAtomic: bigint
  tokenCreateDate: string
  updateDate: string
}

/** Lists the NFTs that an address has; the token's id is that of the NFT, and so its cursor. */
export const listItems = (
  db: Db,
  owner: { entityId: string; blockchain: string; address: string },
  filters: BalanceFilters,
  page: PageQuery,
) =>
  readPage<ItemBalance>(
    db,
    {
      columns: sql`${tokenColumns}, t.collection_id, t.item_id, t.uri, t.posted as posted_atomic, t.token_create_date,
        t.update_date`,
      from: sql`(select k.id, k.blockchain, c.name, c.symbol, c.decimals, k.is_native, k.standard, k.address, k.currency,
          k.listed, c.id as collection_id, k.item_id, k.uri, c.create_date as token_create_date, a.entity_id, a.kind,
          a.address as owner, a.posted, a.create_date, a.update_date
        from accounts a join tokens k on k.id = a.token_id join tokens c on c.id = coalesce(k.collection_id, k.id)
        where k.item_id is not null or k.standard = any(${nftStandards}::text[])) t`,
      alias: 't',
      scope: sql`t.entity_id = ${owner.entityId} and t.kind = 'address' and t.blockchain = ${owner.blockchain}
        and t.owner = ${owner.address}`,
      filters: [filters.includeAll ? undefined : isShown, ...tokenConditions(filters)],
      visible: sql`t.posted > 0`,
    },
    page,
  )
