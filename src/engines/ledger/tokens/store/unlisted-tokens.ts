import { tokenIdNamespace } from '#chains/network'
import { nameId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { type Db, jsonOf, sql } from '#runtime/db/db'

/** The id of a token that no network lists, or of one of its items: the same on every server and after every restore. */
export const unlistedTokenId = (blockchain: string, address: string, itemId?: bigint | null): string =>
  nameId(tokenIdNamespace, [blockchain, address, ...(itemId == null ? [] : [itemId])].join(':'))

type UnlistedToken = {
  id: string
  blockchain: string
  address: string
  standard: string
  name: string
  symbol: string
  /** Null until a node has returned them. */
  decimals: number | null
  lookAlike: boolean
  /** The address of its metadata, where the token is one NFT. */
  uri?: string | undefined
}

/** Inserts tokens of any contract, and describes those whose decimals were not known; others stay as they are. */
export async function keepUnlistedTokens(
  db: Db,
  nowMs: number,
  rows: readonly UnlistedToken[],
): Promise<void> {
  const given = sql`jsonb_to_recordset(${jsonOf(rows)}::jsonb) as row(id uuid, blockchain text, address text,
      standard text, name text, symbol text, decimals integer, look_alike boolean, uri text)`
  await db.run(sql`insert into tokens (id, blockchain, address, standard, name, symbol, decimals, decimals_known, look_alike,
      uri, is_native, listed, create_date)
    select id, blockchain, address, standard, name, symbol, coalesce(decimals, 0), decimals is not null, look_alike,
      uri, false, false, ${formatInstant(nowMs)} from ${given}
    on conflict do nothing`)
  await db.run(sql`update tokens t set name = row.name, symbol = row.symbol, decimals = row.decimals, decimals_known = true,
      look_alike = row.look_alike, standard = row.standard, uri = row.uri
    from ${given} where t.id = row.id and not t.decimals_known and row.decimals is not null`)
}

type NewItem = { id: string; collectionId: string; itemId: bigint }

/** Inserts items of tokens that are there. */
export const insertItems = (db: Db, nowMs: number, rows: readonly NewItem[]) =>
  db.run(sql`insert into tokens (id, blockchain, address, standard, name, symbol, decimals, look_alike, is_native, listed,
      collection_id, item_id, create_date)
    select n.i, c.blockchain, c.address, c.standard, '', '', 0, c.look_alike, false, false, c.id, n.k, ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.collectionId)}::uuid[],
      ${rows.map((row) => row.itemId.toString())}::numeric[]) as n(i, c, k) join tokens c on c.id = n.c
    on conflict do nothing`)

export const setItemUri = (db: Db, id: string, uri: string) =>
  db.run(
    sql`update tokens set uri = ${uri} where id = ${id} and item_id is not null and uri is distinct from ${uri}`,
  )

/** A balance's token, or the item and its contract. */
export type BalanceUnit = {
  id: string
  address: string
  standard: string
  itemId: bigint | null
  uri: string | null
  decimals: number
  decimalsKnown: boolean
  lookAlike: boolean
}

export const balanceUnits = (db: Db, ids: readonly string[]) =>
  db.all<BalanceUnit>(sql`select t.id, t.address, t.standard, t.item_id, t.uri, t.decimals, t.decimals_known, t.look_alike
    from tokens t
    where t.id = any(${ids}::uuid[]) and not t.listed`)

/** Names and symbols of all listed tokens. */
export const listedNames = async (db: Db): Promise<string[]> =>
  (
    await db.all<{ text: string }>(sql`select name as text from tokens where listed
      union select symbol from tokens where listed`)
  ).map(({ text }) => text)

/** The addresses of unlisted tokens that are known, among these. */
export const knownTokens = (db: Db, blockchain: string, addresses: readonly string[]) =>
  db.all<{
    id: string
    address: string
    standard: string
    decimals: number
    decimalsKnown: boolean
    listed: boolean
    lookAlike: boolean
  }>(
    sql`select t.id, t.address, t.standard, t.decimals, t.decimals_known, t.listed,
        t.look_alike from tokens t
      where t.blockchain = ${blockchain} and t.address = any(${addresses}::text[]) and t.item_id is null`,
  )
