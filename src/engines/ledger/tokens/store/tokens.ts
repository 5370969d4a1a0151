import { canonicalAddress } from '#chains/addresses/canonical'
import { nativeContract, tokenAddress } from '#chains/network'
import { type Network, networkOf, networks } from '#chains/networks/index'
import { formatInstant } from '#lib/time'
import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Database, type Db, type Sql, sql } from '#runtime/db/db'
import { boolean, integer, nullable, type RowOf, table, text, timestamptz, uuid } from '#runtime/db/table'

/** A token of the books. A contract that merely calls itself USDC is not a listed one. */
export type Token = RowOf<typeof tokens>

const tokens = table('tokens', {
  id: uuid,
  blockchain: text,
  name: text,
  symbol: text,
  decimals: integer,
  isNative: boolean,
  standard: nullable(text),
  /** Canonical; null for the native coin. */
  address: nullable(text),
  /** The ISO 4217 code behind a stablecoin. */
  currency: nullable(text),
  /** Part of this server's network data. Other tokens are worth nothing to the business account. */
  listed: boolean,
  createDate: timestamptz,
})

const columns = tokens.columns('t')

export const tokenColumns = columns

/** Inserts the tokens of these networks; existing rows stay as they are, but for tokens that were not listed before. */
export async function seedTokens(
  database: Database,
  networks: readonly Network[],
  nowMs: number,
): Promise<void> {
  const at = { listed: true, createDate: formatInstant(nowMs) }
  const rows = networks.flatMap(({ blockchain, nativeToken, tokenStandard = 'ERC20', tokens: others }) => [
    {
      ...nativeToken,
      ...at,
      blockchain,
      isNative: true,
      standard: null,
      address: null,
      currency: currencyOf(nativeToken),
    },
    ...others.map((token) => ({
      ...token,
      ...at,
      blockchain,
      isNative: false,
      standard: tokenStandard,
      address: tokenAddress(token),
    })),
  ])
  await database.run(sql`update tokens t set listed = true, look_alike = false, name = row.name, symbol = row.symbol,
      decimals = row.decimals, decimals_known = true, currency = row.currency
    from ${tokens.recordset(rows)}
    where t.blockchain = row.blockchain and t.address = row.address and t.item_id is null and not t.listed`)
  await database.run(sql`${tokens.insert(rows)}
    on conflict do nothing`)
}

const currencyOf = ({ contract }: Network['nativeToken']): string | null => contract?.currency ?? null

type BookedCoin = Pick<Token, 'id' | 'blockchain' | 'symbol' | 'decimals' | 'address'>

/**
 * Throws where the books have coins of a network that this program does not know any more, or that it knows otherwise: the operator's
 * list of networks was changed under them.
 */
export async function requireNetworksOfBooks(db: Db): Promise<void> {
  const listed = await db.all<BookedCoin>(
    sql`select t.id, t.blockchain, t.symbol, t.decimals, t.address from tokens t where t.listed`,
  )
  for (const coin of listed) {
    const network = networkOf(coin.blockchain)
    if (!network)
      throw new Error(
        `the database has ${coin.symbol} of ${coin.blockchain}, and BEZANT_OWN_NETWORKS has no such network: name it there again, and take its nodes out of BEZANT_NETWORKS if it is not to be used`,
      )
    const change = changeOf(coin, network)
    if (change !== undefined)
      throw new Error(
        `${change} in BEZANT_OWN_NETWORKS: correct it there, or begin anew with an empty database, which a sandbox has in another --data-dir`,
      )
  }
}

/** The difference between a coin of the books and that of its network. */
function changeOf(booked: BookedCoin, { nativeToken, tokens: others }: Network): string | undefined {
  const { id, blockchain, symbol, decimals, address } = booked
  const coins: KnownCoin[] = [
    { ...nativeToken, address: null },
    ...others.map((token) => ({ ...token, address: tokenAddress(token) })),
  ]
  // A token that a wallet had before it was listed keeps the id that it had, and is found by its address.
  const coin = coins.find((each) => each.id === id) ?? coins.find((each) => each.address === address)
  const isElsewhere = coin !== undefined && coin.address !== address
  const named = `${symbol} of ${blockchain}`
  if (!coin || (isElsewhere && coin.localOnly)) return `${named} is ${address} in the database, and missing`
  if (isElsewhere) return `${named} is ${placeOf(booked)} in the database, and ${placeOf(coin)}`
  if (coin.address === null && coin.id !== id)
    return `the native coin of ${blockchain} is ${symbol} in the database, and ${coin.symbol}`
  if (coin.decimals !== decimals)
    return `${named} has ${decimals} decimals in the database, and ${coin.decimals}`
  return undefined
}

type KnownCoin = Pick<Token, 'id' | 'symbol' | 'decimals' | 'address'> & { localOnly?: true }

const placeOf = ({ address }: Pick<Token, 'address'>) => address ?? 'the native coin'

/** A request knows no token before its decimals: its amounts could mean anything. */
const isNameable = sql`t.item_id is null and t.decimals_known`

export const tokenById = (db: Db, id: string) =>
  db.maybe<Token>(sql`select ${columns} from tokens t where t.id = ${id} and ${isNameable}`)

export const tokensByIds = (db: Db, ids: readonly string[]) =>
  db.all<Token>(sql`select ${columns} from tokens t where t.id = any(${ids}::uuid[]) and ${isNameable}`)

/** Whether the token `t` is at one of these addresses. A native coin is at that of its contract, too. */
export function isAtAddress(addresses: readonly string[]): Sql {
  const isListed = sql`t.address = any(${addresses}::text[])`
  const chains = networks.filter((network) => addresses.includes(nativeContract(network) ?? ''))
  if (chains.length === 0) return isListed
  return sql`(${isListed} or (t.is_native and t.blockchain = any(${chains.map(({ blockchain }) => blockchain)}::text[])))`
}

export const tokenByAddress = (db: Db, blockchain: string, address: string) =>
  db.maybe<Token>(
    sql`select ${columns} from tokens t
      where t.blockchain = ${blockchain} and ${isAtAddress([address])} and ${isNameable}`,
  )

/** The id of the native coin of a known network: the books are compared with the network data when they are opened. */
export const nativeTokenId = (blockchain: string): string => {
  const network = networkOf(blockchain)
  if (!network) throw new Error(`the network ${blockchain} is unknown`)
  return network.nativeToken.id
}

export const nativeToken = (db: Db, blockchain: string) =>
  db.one<Token>(sql`select ${columns} from tokens t where t.blockchain = ${blockchain} and t.is_native`)

/** The listed tokens of a blockchain, the native coin first. */
export const tokensOf = (db: Db, blockchain: string) =>
  db.all<Token>(
    sql`select ${columns} from tokens t where t.blockchain = ${blockchain} and t.listed order by t.is_native desc, t.symbol`,
  )

export type TokenFilters = {
  blockchain?: string | undefined
  tokenAddress?: string | undefined
  symbol?: string | undefined
}

/** Lists the tokens `t` that fulfil `scope`. */
export const listTokens = (db: Db, scope: Sql, filters: TokenFilters, page: PageQuery) =>
  readPage<Token>(
    db,
    {
      columns,
      from: sql`tokens t`,
      alias: 't',
      scope,
      filters: [
        filters.blockchain === undefined ? undefined : sql`t.blockchain = ${filters.blockchain}`,
        filters.tokenAddress === undefined
          ? undefined
          : isAtAddress([canonicalAddress(filters.tokenAddress)]),
        filters.symbol === undefined ? undefined : sql`t.symbol = ${filters.symbol}`,
      ],
    },
    page,
  )
