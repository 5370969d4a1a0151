import { type Page, readPage, type Source } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, jsonOf, raw, sql } from '#runtime/db/db'
import type { Waiting } from '../../types.ts'
import type { DepositReview } from '../types.ts'

export type TransferStatus = 'pending' | 'running' | 'complete' | 'failed'

/** Money to the merchant's own external address, or from any sender to a deposit address of the merchant's account. */
export type Transfer = {
  entityId: string
  id: string
  direction: 'in' | 'out'
  status: TransferStatus
  walletId: string
  chain: string
  blockchain: string
  /** The sender of an incoming transfer. */
  fromAddress: string | null
  toAddress: string
  currency: string
  tokenId: string
  decimals: number
  amount: bigint
  transactionHash: string | null
  errorCode: string | null
  riskReason: string | null
  /** The reason why an outgoing transfer waits. */
  waiting: Waiting | null
  /** Of an incoming transfer. */
  review: DepositReview | null
  createDate: string
  updateDate: string
}

const columns =
  raw(`t.entity_id, t.id, t.direction, t.status, t.wallet_id, t.chain, t.blockchain, t.from_address, t.to_address,
  t.currency, t.token_id, t.decimals, t.amount, t.transaction_hash, t.error_code, t.risk_reason, t.waiting, t.review,
  t.create_date, t.update_date`)

/** The block of an incoming transfer, and its ordinal among the transfers of its token to its address in the transaction. */
export type TransferPosition = { ordinal: number; blockHash: string; blockNumber: number }

/** Records incoming transfers of a block: inserts new ones, and updates those whose earlier block was orphaned. */
export const saveIncoming = (tx: Db, rows: readonly (Transfer & TransferPosition)[]) =>
  tx.all<Transfer>(sql`insert into transfers as t (entity_id, id, direction, status, wallet_id, chain, blockchain,
      from_address, to_address, currency, token_id, decimals, amount, transaction_hash, ordinal, block_hash,
      block_number, review, error_code, create_date, update_date)
    select row.*, row.create_date from jsonb_to_recordset(${jsonOf(rows)}::jsonb) as row(entity_id uuid, id uuid,
      direction text, status text, wallet_id text, chain text, blockchain text, from_address text, to_address text,
      currency text, token_id uuid, decimals integer, amount numeric, transaction_hash text, ordinal integer,
      block_hash text, block_number bigint, review text, error_code text, create_date timestamptz)
    on conflict (entity_id, blockchain, transaction_hash, to_address, token_id, ordinal) where direction = 'in'
    do update set status = case when t.review = 'denied' then 'failed' else 'pending' end,
      error_code = case when t.review = 'denied' then t.error_code end,
      review = coalesce(t.review, excluded.review), amount = excluded.amount,
      from_address = excluded.from_address, block_hash = excluded.block_hash, block_number = excluded.block_number,
      update_date = excluded.update_date
    returning ${columns}`)

const isComing = raw(`t.direction = 'in' and t.status in ('pending', 'running')`)

/** Incoming transfers whose block has its confirmations and that wait for no review. */
export const lockFinalIncoming = (tx: Db, blockchain: string, upToNumber: number) =>
  tx.all<Transfer>(sql`select ${columns} from transfers t where t.blockchain = ${blockchain} and ${isComing}
    and t.block_number <= ${upToNumber} and t.block_hash is not null and t.review is distinct from 'pending'
    order by t.id for update`)

/** Incoming transfers orphaned from a block up to `upToNumber` that no later block includes. */
export const lockLostIncoming = (tx: Db, blockchain: string, upToNumber: number) =>
  tx.all<Transfer>(sql`select ${columns} from transfers t where t.blockchain = ${blockchain} and ${isComing}
    and t.block_number <= ${upToNumber} and t.block_hash is null order by t.id for update`)

export const lockIncomingOf = (tx: Db, blockchain: string, blockHash: string) =>
  tx.all<Transfer>(sql`select ${columns} from transfers t
    where t.blockchain = ${blockchain} and t.block_hash = ${blockHash} order by t.id for update`)

const among = (rows: readonly Transfer[]) =>
  sql`(t.entity_id, t.id) in (select * from unnest(${rows.map((row) => row.entityId)}::uuid[],
    ${rows.map((row) => row.id)}::uuid[]))`

export async function setIncoming(
  tx: Db,
  rows: readonly Transfer[],
  status: 'running' | 'complete' | 'failed',
  at: string,
): Promise<void> {
  if (rows.length === 0) return
  await tx.run(sql`update transfers t set status = ${status}, update_date = ${at},
      error_code = ${status === 'failed' ? 'transfer_failed' : null}
    where ${among(rows)}`)
}

/** Returns transfers to `pending`, except denied ones: no canonical block holds them now. */
export const orphanIncoming = (tx: Db, rows: readonly Transfer[], at: string) =>
  tx.run(sql`update transfers t set status = case when t.review = 'denied' then t.status else 'pending' end,
      block_hash = null, update_date = ${at} where ${among(rows)}`)

/** Sums the transfers to the entity that are not complete yet, by currency, in base units. */
export const unsettledTransfers = (db: Db, entityId: string) =>
  db.all<{ currency: string; amount: bigint }>(sql`select t.currency, sum(t.amount) as amount from transfers t
    where t.entity_id = ${entityId} and ${isComing} and t.block_hash is not null group by t.currency`)

export const findTransfer = (db: Db, entityId: string, id: string) =>
  db.maybe<Transfer>(sql`select ${columns} from transfers t where t.entity_id = ${entityId} and t.id = ${id}`)

type TransferFilters = {
  direction?: 'in' | 'out' | undefined
  /** Set by filters on wallets that do not exist. */
  matchesNothing: boolean
}

export function listTransfers(
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
    filters: [direction && sql`t.direction = ${direction}`, matchesNothing ? raw('false') : undefined],
  }
  return readPage<Transfer>(db, source, page)
}
