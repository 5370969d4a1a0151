import type { Source } from '#runtime/collection/page'
import { type Sql, sql } from '#runtime/db/db'

/** Everything that moves money, under the name of its resource. A message and a transfer of a unified balance have no entity. */
export const movementKinds = [
  'transaction',
  'payment',
  'refund',
  'payout',
  'transfer',
  'deposit',
  'sweep',
  'userOperation',
  'modularTransfer',
] as const
export type MovementKind = (typeof movementKinds)[number]

/** How far a movement is, whatever its kind calls that. */
export const movementPhases = ['open', 'stuck', 'done', 'failed'] as const
export type MovementPhase = (typeof movementPhases)[number]

/**
 * One movement. `amounts` are decimal strings where the resource has them. Otherwise `amount` is in base units, of the token or of a
 * currency with `decimals`.
 */
export type Movement = {
  id: string
  kind: MovementKind
  direction: 'in' | 'out' | 'internal'
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
  sentAs: (txHash: string) => Sql
}

type MovementColumns = Record<
  'id' | 'kind' | 'direction' | 'state' | 'blockchain' | 'createDate' | 'updateDate',
  Sql
> &
  Partial<Record<'amounts' | 'amount' | 'tokenId' | 'currency' | 'decimals' | 'from' | 'to' | 'txHash', Sql>>

const none = sql`null`

/** The selected columns of a movement, in the one order that all tables share; a column that is left out is null. */
export const movementColumns = (columns: MovementColumns): Sql =>
  sql`${columns.id} as id, ${columns.kind}::text as kind, ${columns.direction}::text as direction,
    ${columns.state} as state, ${columns.amounts ?? none}::text[] as amounts, ${columns.amount ?? none}::numeric as amount,
    ${columns.tokenId ?? none}::uuid as token_id, ${columns.currency ?? none}::text as currency,
    ${columns.decimals ?? none}::int4 as decimals, ${columns.blockchain} as blockchain,
    ${columns.from ?? none}::text as from_address, ${columns.to ?? none}::text as to_address,
    ${columns.txHash ?? none}::text as tx_hash, ${columns.createDate} as create_date, ${columns.updateDate} as update_date`
