import type { MovementTable } from '#engines/movement'
import { allOf, type Db, join, raw, type Sql, sql } from '#runtime/db/db'
import type { SearchWord } from './word.ts'

/** The kinds that are found, beside movements. */
export const foundKinds = [
  'wallet',
  'walletSet',
  'modularWallet',
  'contract',
  'paymentIntent',
  'recipient',
  'account',
  'subscription',
  'notification',
  'request',
] as const
export type FoundKind = (typeof foundKinds)[number]

/** A resource that a word is about. `label` is null of a movement, which is read by its id. */
type FoundRow = {
  kind: string
  id: string
  label: string | null
  line: 'v1' | 'v2' | null
  rank: number
}

/** The better the match, the earlier it is shown. */
const ranks = { id: 1, hash: 2, address: 3, reference: 4, amount: 5, beginning: 6 } as const

type Lookup = { rank: number; where: Sql; order?: Sql }

/** Views by which the owners of tables let them be searched, with the columns that they have beside id and label. */
const views: readonly { kind: FoundKind; view: Sql; isOnlyByAddress?: true; columns?: readonly string[] }[] =
  [
    { kind: 'wallet', view: raw('searched_wallets'), columns: ['address', 'ref_id'] },
    { kind: 'walletSet', view: raw('searched_wallet_sets') },
    { kind: 'modularWallet', view: raw('searched_modular_wallets'), columns: ['address'] },
    { kind: 'contract', view: raw('searched_contracts'), columns: ['address'] },
    { kind: 'paymentIntent', view: raw('searched_payment_intents') },
    {
      kind: 'paymentIntent',
      view: raw('searched_deposit_addresses'),
      columns: ['address'],
      isOnlyByAddress: true,
    },
    { kind: 'recipient', view: raw('searched_recipients'), columns: ['address'] },
    { kind: 'account', view: raw('searched_accounts') },
    { kind: 'subscription', view: raw('searched_subscriptions') },
    { kind: 'notification', view: raw('searched_notifications') },
    { kind: 'request', view: raw('searched_requests'), columns: ['request_id', 'idempotency_key'] },
  ]

/** The shortest address and hash of any chain are longer. */
const addressMin = 20

/**
 * The rows that a word is about, the best matches first. Each condition is a query of its own, with the order of the index that
 * serves it and a limit, so that a word which many rows have costs as much as one of few.
 */
export function findRows(
  db: Db,
  entityId: string,
  word: SearchWord,
  { ids, movements, limit }: { ids: readonly string[]; movements: readonly MovementTable[]; limit: number },
): Promise<FoundRow[]> {
  // A plan for any number of rows would be another one.
  const most = raw(String(limit))
  const ofViews = views.flatMap(({ kind, view, columns = [], isOnlyByAddress }) =>
    lookupsOf(word, ids, columns)
      .filter(({ rank }) => !isOnlyByAddress || rank === ranks.address)
      .map(({ rank, where, order = sql`` }) => {
        const line = kind === 'subscription' ? sql`m.line` : sql`null`
        return sql`(select ${kind}::text as kind, m.id, m.label, ${line}::text as line, ${rank}::int4 as rank, m.create_date
          from ${view} m where m.entity_id = ${entityId} and ${where} ${order} limit ${most})`
      }),
  )
  const ofMovements = movements.flatMap((table) => {
    const { columns, from, scope } = table.source(entityId)
    return movementLookups(table, entityId, word, ids).map(
      ({
        rank,
        where,
        order = sql``,
      }) => sql`(select f.kind, f.id, null::text, null::text, ${rank}::int4, f.create_date
        from (select ${columns} from ${from} where ${scope} and ${where} ${order} limit ${most}) f)`,
    )
  })
  const branches = [...ofViews, ...ofMovements]
  if (branches.length === 0) return Promise.resolve([])
  return db.all<FoundRow>(sql`select f.kind, f.id, f.label, f.line, f.rank from (${join(branches, ' union all ')}) f
    order by f.rank, f.create_date desc, f.id desc limit ${limit * 3}`)
}

/**
 * The rows in which a column has a value, newest first. With a range and its order, the index that begins with the column is the only
 * one that fits: for an equality, the planner may take one by date, and read all rows in the hope of early matches.
 */
const having = (rank: number, column: Sql, value: Sql, isDated = true): Lookup => ({
  rank,
  where: sql`${column} >= ${value} and ${column} <= ${value}`,
  order: isDated ? sql`order by ${column} desc, m.create_date desc, m.id desc` : sql`order by ${column} desc`,
})

/** The lookups that all tables share. */
function byIds({ ids: range }: SearchWord, ids: readonly string[]): Lookup[] {
  return [
    ...(ids.length > 0 ? [{ rank: ranks.id, where: sql`m.id = any(${ids}::uuid[])` }] : []),
    ...(range
      ? [
          {
            rank: ranks.beginning,
            where: sql`m.id between ${range.from} and ${range.to}`,
            order: sql`order by m.id desc`,
          },
        ]
      : []),
  ]
}

function lookupsOf(word: SearchWord, ids: readonly string[], columns: readonly string[]): Lookup[] {
  const { id, text, canonical } = word
  const has = (name: string) => columns.includes(name)
  return [
    ...byIds(word, ids),
    ...(id && has('request_id') ? [having(ranks.id, sql`m.request_id`, sql`${id}::uuid`)] : []),
    ...(id && has('idempotency_key') ? [having(ranks.id, sql`m.idempotency_key`, sql`${id}::uuid`)] : []),
    ...(has('address') && canonical.length >= addressMin
      ? [having(ranks.address, sql`m.address`, sql`${canonical}::text`, false)]
      : []),
    ...(has('ref_id') ? [having(ranks.reference, sql`m.ref_id`, sql`${text}::text`)] : []),
  ]
}

function movementLookups(
  table: MovementTable,
  entityId: string,
  word: SearchWord,
  ids: readonly string[],
): Lookup[] {
  const { text, canonical, hashes, amount } = word
  const { reference, indexed } = table
  const wanted = amount === undefined ? undefined : table.amountOf(amount)
  const within = (lookup: Lookup, condition: Sql | undefined): Lookup => ({
    ...lookup,
    where: allOf([condition, lookup.where]),
  })
  return [
    ...byIds(word, ids),
    ...(canonical.length >= addressMin
      ? [
          { rank: ranks.hash, where: table.sentAs(canonical, entityId) },
          ...table.addresses.map((column) => having(ranks.address, column, sql`${canonical}::text`)),
        ]
      : []),
    ...(reference
      ? [within(having(ranks.reference, reference, sql`${text}::text`), indexed?.reference)]
      : []),
    ...(wanted ? [within(having(ranks.amount, wanted.column, wanted.value), indexed?.amount)] : []),
    ...(hashes
      ? [{ rank: ranks.beginning, where: table.sentBetween(hashes.from, hashes.before, entityId) }]
      : []),
  ]
}

/** The resources that requests with this idempotency key made, of whatever operation. */
export const madeWithKey = async (db: Db, entityId: string, key: string, limit: number): Promise<string[]> =>
  (
    await db.all<{ resourceId: string }>(sql`select resource_id from searched_idempotency_keys
      where entity_id = ${entityId} and key = ${key} limit ${limit}`)
  ).map(({ resourceId }) => resourceId)

/** The transactions of which an attempt has this hash: that of an earlier attempt is in no transaction any more. */
export const attemptedAs = async (
  db: Db,
  entityId: string,
  blockchains: readonly string[],
  txHash: string,
): Promise<string[]> =>
  (
    await db.all<{ transactionId: string }>(sql`select transaction_id from searched_attempts
      where entity_id = ${entityId} and blockchain = any(${blockchains}::text[]) and tx_hash = ${txHash}`)
  ).map(({ transactionId }) => transactionId)
