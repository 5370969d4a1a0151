import { type Page, readPage, type Source } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, listedWord, raw, sql } from '#runtime/db/db'
import {
  bigint,
  integer,
  jsonb,
  nullable,
  numeric,
  type RowOf,
  table,
  text,
  textOf,
  timestamptz,
  uuid,
} from '#runtime/db/table'
import type { Waiting } from '../../types.ts'
import type { DepositReview } from '../types.ts'
import { requireAll } from './require-all.ts'

export type TransferStatus = 'pending' | 'running' | 'complete' | 'failed'

/** A transfer with its block, and its ordinal among the transfers of its token to its address in the transaction. */
export type PlacedTransfer = RowOf<typeof transfers>

const transfers = table('transfers', {
  entityId: uuid,
  id: uuid,
  direction: textOf<'in' | 'out'>(),
  status: textOf<TransferStatus>(),
  walletId: text,
  chain: text,
  blockchain: text,
  /** The sender of an incoming transfer. */
  fromAddress: nullable(text),
  toAddress: text,
  currency: text,
  tokenId: uuid,
  decimals: integer,
  amount: numeric,
  transactionHash: nullable(text),
  ordinal: nullable(integer),
  blockHash: nullable(text),
  blockNumber: nullable(bigint),
  errorCode: nullable(text),
  riskReason: nullable(text),
  /** The reason why an outgoing transfer waits. */
  waiting: nullable(jsonb<Waiting>()),
  /** Of an incoming transfer. */
  review: nullable(textOf<DepositReview>()),
  createDate: timestamptz,
  updateDate: timestamptz,
})

/** Money to the merchant's own external address, or from any sender to a deposit address of the merchant's account. */
export type Transfer = Omit<PlacedTransfer, 'ordinal' | 'blockHash' | 'blockNumber'>

const columns = transfers.without('ordinal', 'blockHash', 'blockNumber').columns('t')

export const insertOutgoing = (tx: Db, row: Transfer) =>
  tx.run(transfers.insert([{ ...row, ordinal: null, blockHash: null, blockNumber: null }]))

/** Records incoming transfers of a block: inserts new ones, and updates those whose earlier block was orphaned. */
export const saveIncoming = (tx: Db, rows: readonly PlacedTransfer[]) =>
  tx.all<Transfer>(sql`${transfers.insert(rows, 't')}
    on conflict (entity_id, blockchain, transaction_hash, to_address, token_id, ordinal) where direction = 'in'
    do update set status = case when t.review = 'denied' then 'failed' else 'pending' end,
      error_code = case when t.review = 'denied' then t.error_code end,
      review = coalesce(t.review, excluded.review), amount = excluded.amount,
      from_address = excluded.from_address, block_hash = excluded.block_hash, block_number = excluded.block_number,
      update_date = excluded.update_date
    returning ${columns}`)

const isComing = raw(`t.direction = 'in' and t.status in ('pending', 'running')`)

/** Incoming transfers whose block has its confirmations and that wait for no review. The caller has the lock of the feed. */
export const finalIncoming = (tx: Db, blockchain: string, upToNumber: number) =>
  tx.all<Transfer>(sql`select ${columns} from transfers t where t.blockchain = ${blockchain} and ${isComing}
    and t.block_number <= ${upToNumber} and t.block_hash is not null and t.review is distinct from 'pending'
    order by t.id`)

/** Incoming transfers orphaned from a block up to `upToNumber` that no later block includes. */
export const lostIncoming = (tx: Db, blockchain: string, upToNumber: number) =>
  tx.all<Transfer>(sql`select ${columns} from transfers t where t.blockchain = ${blockchain} and ${isComing}
    and t.block_number <= ${upToNumber} and t.block_hash is null order by t.id`)

export const incomingOfBlock = (tx: Db, blockchain: string, blockHash: string) =>
  tx.all<Transfer>(sql`select ${columns} from transfers t
    where t.blockchain = ${blockchain} and t.block_hash = ${blockHash} order by t.id`)

const among = (rows: readonly Transfer[]) =>
  sql`(t.entity_id, t.id) in (select * from unnest(${rows.map((row) => row.entityId)}::uuid[],
    ${rows.map((row) => row.id)}::uuid[]))`

/** Sets the status of transfers that are coming. */
export async function setIncoming(
  tx: Db,
  rows: readonly Transfer[],
  status: 'running' | 'complete' | 'failed',
  at: string,
): Promise<void> {
  if (rows.length === 0) return
  const count = await tx.run(sql`update transfers t set status = ${status}, update_date = ${at},
      error_code = ${status === 'failed' ? 'transfer_failed' : null}
    where ${among(rows)} and ${isComing}`)
  requireAll(count, rows)
}

/** Returns transfers of a block to `pending`, except denied ones: no canonical block holds them now. */
export async function orphanIncoming(
  tx: Db,
  rows: readonly Transfer[],
  blockHash: string,
  at: string,
): Promise<void> {
  const count =
    await tx.run(sql`update transfers t set status = case when t.review = 'denied' then t.status else 'pending' end,
      block_hash = null, update_date = ${at} where ${among(rows)} and t.block_hash = ${blockHash}`)
  requireAll(count, rows)
}

/** Sums the transfers to the entity that are not complete yet, by currency, in base units. */
export const unsettledTransfers = (db: Db, entityId: string) =>
  db.all<{ currency: string; amount: bigint }>(sql`select t.currency, sum(t.amount) as amount from transfers t
    where t.entity_id = ${entityId} and ${isComing} and t.block_hash is not null group by t.currency`)

export const findBusinessTransfer = (db: Db, entityId: string, id: string) =>
  db.maybe<Transfer>(sql`select ${columns} from transfers t where t.entity_id = ${entityId} and t.id = ${id}`)

type TransferFilters = {
  direction?: 'in' | 'out' | undefined
  /** Set by filters on wallets that do not exist. */
  matchesNothing: boolean
}

export function findBusinessTransfers(
  db: Db,
  entityId: string,
  { direction, matchesNothing }: TransferFilters,
  page: PageQuery,
): Promise<Page<Transfer>> {
  const source: Source = {
    columns,
    from: raw('transfers t'),
    alias: 't',
    scope: sql`t.entity_id = ${entityId}`,
    filters: [
      direction && sql`t.direction = ${listedWord(direction)}`,
      matchesNothing ? raw('false') : undefined,
    ],
  }
  return readPage<Transfer>(db, source, page)
}
