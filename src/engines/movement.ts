import { parseAmount } from '#lib/amounts'
import type { Source } from '#runtime/collection/page'
import { allOf, raw, type Sql, sql } from '#runtime/db/db'

/** Everything that moves money, under the name of its resource. */
export const movementKinds = [
  'transaction',
  'payment',
  'refund',
  'payout',
  'redemption',
  'transfer',
  'deposit',
  'sweep',
  'userOperation',
  'modularTransfer',
  'message',
  'unifiedTransfer',
] as const
export type MovementKind = (typeof movementKinds)[number]

/** How far a movement is, whatever its kind calls that. */
export const movementPhases = ['open', 'stuck', 'done', 'failed'] as const
export type MovementPhase = (typeof movementPhases)[number]

export type MovementDirection = 'in' | 'out' | 'internal'

/** The direction of the same money for each entity whose addresses pay or receive it. */
export function directionsByEntity(
  paying: Iterable<string>,
  receiving: Iterable<string>,
): Map<string, MovementDirection> {
  const directions = new Map<string, MovementDirection>()
  for (const entityId of paying) directions.set(entityId, 'out')
  for (const entityId of new Set(receiving))
    directions.set(entityId, directions.has(entityId) ? 'internal' : 'in')
  return directions
}

/**
 * One movement. `amounts` are decimal strings where the resource has them. Otherwise `amount` is in base units: those of `decimals`,
 * or of the token where these are null.
 */
export type Movement = {
  id: string
  kind: MovementKind
  direction: MovementDirection
  state: string
  amounts: string[] | null
  amount: bigint | null
  tokenId: string | null
  currency: string | null
  decimals: number | null
  blockchain: string
  fromAddress: string | null
  toAddress: string | null
  txHash: string | null
  createDate: string
  updateDate: string
}

/** The names of the states of a table, by phase. */
type PhaseStates = Readonly<Partial<Record<MovementPhase, readonly string[]>>>

/** Movements of one table: how its owner reads them, and by what they are found through an index. */
export type MovementTable = {
  /** The kinds in the table, each with the condition on its rows where the table has several. */
  kinds: Readonly<Partial<Record<MovementKind, Sql | undefined>>>
  states: PhaseStates
  source: (entityId: string) => Omit<Source, 'filters'>
  /** The columns of the filters. */
  state: Sql
  blockchain: Sql
  /** The conditions on rows with an address. No row meets two of them, and each has an index of its own. */
  addressed: (address: string) => readonly Sql[]
  /** Absent of tables whose movements have no wallet of the wallet product. */
  ofWallet?: (walletId: string) => Sql
  sentAs: (txHash: string, entityId: string) => Sql
  /** The condition on rows whose hash is in a range of texts. */
  sentBetween: (from: string, before: string, entityId: string) => Sql
  /** The addresses of a row, each with an index that continues with the date. */
  addresses: readonly Sql[]
  /** The column, and the value that a decimal string has there; undefined where no index finds amounts, or none is so small. */
  amountOf: (amount: string) => { column: Sql; value: Sql } | undefined
  /** The caller's own reference; absent of tables without one. */
  reference?: Sql | undefined
  /** The conditions of partial indexes on amounts and references. */
  indexed?: { amount: Sql; reference: Sql } | undefined
}

/** The money of the business account is counted in millionths; an amount with more digits is of no movement. */
function inMillionths(amount: string): ReturnType<MovementTable['amountOf']> {
  const atomic = parseAmount(amount, 6)
  return typeof atomic === 'bigint'
    ? { column: sql`m.amount`, value: sql`${atomic.toString()}::numeric` }
    : undefined
}

type MovementColumn = 'amounts' | 'amount' | 'tokenId' | 'currency' | 'decimals' | 'from' | 'to' | 'txHash'

/** The columns of most tables. `null` stands for one that a table has not. */
const usualColumns: Record<MovementColumn, Sql> = {
  amounts: sql`null`,
  amount: sql`m.amount`,
  tokenId: sql`m.token_id`,
  currency: sql`null`,
  decimals: sql`null`,
  from: sql`m.from_address`,
  to: sql`m.to_address`,
  txHash: sql`m.transaction_hash`,
}

type MovementSpec = Pick<MovementTable, 'kinds' | 'states' | 'state'> & {
  /** The table, under the alias `m`. */
  from: Sql
  /** The kind of a row, where the table has several. */
  kind?: Sql
  direction: Sql
  /** The columns that differ from the usual ones. */
  columns?: Partial<Record<MovementColumn, Sql>>
  /** The condition on rows that are movements at all. */
  shown?: Sql
  walletId?: Sql
  /** Default: the receiver and the sender. */
  addresses?: MovementTable['addresses']
  /** Default: one of `addresses` equals the address, and none before it does. */
  addressed?: MovementTable['addressed']
  sentAs?: MovementTable['sentAs']
  sentBetween?: MovementTable['sentBetween']
  /** Default: the column `amount`, in millionths. */
  amountOf?: MovementTable['amountOf']
  reference?: Sql
  indexed?: MovementTable['indexed']
}

/** Declares the movements of a table. All tables select the same columns in one order. */
export function movementTable({
  from,
  kind,
  direction,
  columns: own,
  shown,
  walletId,
  ...spec
}: MovementSpec): MovementTable {
  const columns = { ...usualColumns, ...own }
  const addresses = spec.addresses ?? [columns.to, columns.from]
  const [only] = Object.keys(spec.kinds)
  const selected = sql`m.id, ${kind ?? raw(`'${only}'`)}::text as kind, ${direction}::text as direction,
    ${spec.state} as state, ${columns.amounts}::text[] as amounts, ${columns.amount}::numeric as amount,
    ${columns.tokenId}::uuid as token_id, ${columns.currency}::text as currency, ${columns.decimals}::int4 as decimals,
    m.blockchain, ${columns.from}::text as from_address, ${columns.to}::text as to_address,
    ${columns.txHash}::text as tx_hash, m.create_date, m.update_date`
  return {
    addresses,
    addressed: (address) =>
      addresses.map((column, index) => {
        const before = addresses.slice(0, index).map((other) => sql`${other} <> ${address}`)
        return allOf([sql`${column} = ${address}`, ...before])
      }),
    sentAs: (txHash) => sql`${columns.txHash} = ${txHash}`,
    sentBetween: (from, before) => sql`${columns.txHash} >= ${from} and ${columns.txHash} < ${before}`,
    amountOf: inMillionths,
    ...spec,
    blockchain: sql`m.blockchain`,
    ...(walletId && { ofWallet: (id: string) => sql`${walletId} = ${id}` }),
    source: (entityId) => ({
      columns: selected,
      from,
      alias: 'm',
      scope: allOf([sql`m.entity_id = ${entityId}`, shown]),
    }),
  }
}
