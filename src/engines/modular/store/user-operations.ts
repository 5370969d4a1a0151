import type { ObservedOperation } from '#engines/indexer/observed/index'
import type { Ref } from '#engines/transactions/index'
import { formatInstant } from '#lib/time'
import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, listedWord, raw, sql } from '#runtime/db/db'

export type UserOperationState = 'SENT' | 'CONFIRMED' | 'COMPLETE' | 'FAILED'

/** A user operation of a modular wallet. Amounts are wei; `operation` is JSON. */
export type UserOperationRow = {
  entityId: string
  id: string
  walletId: string
  blockchain: string
  sender: string
  nonce: bigint
  userOpHash: string
  operation: string
  state: UserOperationState
  errorReason: 'FAILED_ON_CHAIN' | 'FAILED_REPLACED' | null
  errorDetails: string | null
  txHash: string | null
  blockHash: string | null
  blockNumber: number | null
  blockTime: string | null
  gasUsed: bigint | null
  fee: bigint | null
  createDate: string
  updateDate: string
}

const userOperationColumns = sql`u.entity_id, u.id, u.wallet_id, u.blockchain, u.sender, u.nonce, u.user_op_hash,
  u.operation::text as operation, u.state, u.error_reason, u.error_details, u.tx_hash, u.block_hash, u.block_number,
  u.block_time, u.gas_used, u.fee, u.create_date, u.update_date`

export const findByHash = (db: Db, entityId: string, blockchain: string, userOpHash: string) =>
  db.maybe<UserOperationRow>(sql`select ${userOperationColumns} from user_operations u
    where u.entity_id = ${entityId} and u.blockchain = ${blockchain} and u.user_op_hash = ${userOpHash}`)

export const findUserOperation = (db: Db, entityId: string, id: string) =>
  db.maybe<UserOperationRow>(sql`select ${userOperationColumns} from user_operations u
    where u.entity_id = ${entityId} and u.id = ${id}`)

type UserOperationFilters = {
  senders: readonly string[] | undefined
  blockchain: string | undefined
  state: string | undefined
  txHash: string | undefined
  userOpHash: string | undefined
}

export const userOperationsPage = (
  db: Db,
  entityId: string,
  { senders, ...filters }: UserOperationFilters,
  page: PageQuery,
) =>
  readPage<UserOperationRow>(
    db,
    {
      columns: userOperationColumns,
      from: sql`user_operations u`,
      alias: 'u',
      scope: sql`u.entity_id = ${entityId}`,
      filters: [
        filters.blockchain === undefined ? undefined : sql`u.blockchain = ${listedWord(filters.blockchain)}`,
        filters.state === undefined ? undefined : sql`u.state = ${listedWord(filters.state)}`,
        filters.txHash === undefined ? undefined : sql`u.tx_hash = ${filters.txHash}`,
        filters.userOpHash === undefined ? undefined : sql`u.user_op_hash = ${filters.userOpHash}`,
      ],
      among: senders && { column: raw('u.sender'), type: 'text', values: senders },
    },
    page,
  )

type NewUserOperation = Pick<
  UserOperationRow,
  | 'entityId'
  | 'id'
  | 'walletId'
  | 'blockchain'
  | 'sender'
  | 'nonce'
  | 'userOpHash'
  | 'operation'
  | 'createDate'
>

/** Inserts an operation; false when it is known, or when another one with its nonce waits. */
export async function insertUserOperation(tx: Db, row: NewUserOperation): Promise<boolean> {
  const inserted =
    await tx.maybe(sql`insert into user_operations (entity_id, id, wallet_id, blockchain, sender, nonce,
      user_op_hash, operation, state, create_date, update_date)
    values (${row.entityId}, ${row.id}, ${row.walletId}, ${row.blockchain}, ${row.sender}, ${row.nonce.toString()},
      ${row.userOpHash}, ${row.operation}::jsonb, 'SENT', ${row.createDate}, ${row.createDate})
    on conflict do nothing returning id`)
  return inserted !== undefined
}

/** Records the operations that a block holds, whatever they were before. */
export const markOperationsMined = (tx: Db, nowMs: number, seen: readonly ObservedOperation[]) =>
  tx.all<
    Ref & { state: UserOperationState; userOpHash: string; gasUsed: bigint }
  >(sql`update user_operations u
    set state = case when n.s then 'CONFIRMED' else 'FAILED' end,
      error_reason = case when n.s then null else 'FAILED_ON_CHAIN' end,
      error_details = case when n.s then null else 'its call reverted' end,
      tx_hash = n.t, block_hash = n.b, block_number = n.bn, block_time = n.bt, gas_used = n.g, fee = n.f,
      update_date = ${formatInstant(nowMs)}
    from unnest(${seen.map((row) => row.entityId)}::uuid[], ${seen.map((row) => row.blockchain)}::text[],
      ${seen.map((row) => row.userOpHash)}::text[], ${seen.map((row) => row.success)}::bool[],
      ${seen.map((row) => row.txHash)}::text[], ${seen.map((row) => row.blockHash)}::text[],
      ${seen.map((row) => row.blockNumber)}::int8[], ${seen.map((row) => row.blockTime)}::timestamptz[],
      ${seen.map((row) => row.gasUsed.toString())}::numeric[], ${seen.map((row) => row.fee.toString())}::numeric[])
      as n(e, c, h, s, t, b, bn, bt, g, f)
    where u.entity_id = n.e and u.blockchain = n.c and u.user_op_hash = n.h
    returning u.entity_id, u.id, u.state, u.user_op_hash, u.gas_used`)

/** Fails waiting operations whose nonce another one used in a block. */
export const markOperationsReplaced = (tx: Db, nowMs: number, seen: readonly ObservedOperation[]) =>
  tx.all<Ref>(sql`update user_operations u set state = 'FAILED', error_reason = 'FAILED_REPLACED',
      error_details = 'another operation used its nonce', block_hash = n.b, block_number = n.bn,
      update_date = ${formatInstant(nowMs)}
    from unnest(${seen.map((row) => row.entityId)}::uuid[], ${seen.map((row) => row.blockchain)}::text[],
      ${seen.map((row) => row.account)}::text[], ${seen.map((row) => row.nonce.toString())}::numeric[],
      ${seen.map((row) => row.userOpHash)}::text[], ${seen.map((row) => row.blockHash)}::text[],
      ${seen.map((row) => row.blockNumber)}::int8[]) as n(e, c, a, o, h, b, bn)
    where u.entity_id = n.e and u.blockchain = n.c and u.sender = n.a and u.nonce = n.o and u.user_op_hash <> n.h
      and u.state = 'SENT'
    returning u.entity_id, u.id`)

/** Completes what is confirmed in blocks up to this one. */
export const completeOperationsUpTo = (tx: Db, nowMs: number, blockchain: string, completeTo: number) =>
  tx.all<Ref>(sql`update user_operations u set state = 'COMPLETE', update_date = ${formatInstant(nowMs)}
    where u.blockchain = ${blockchain} and u.state = 'CONFIRMED' and u.block_number <= ${completeTo}
    returning u.entity_id, u.id`)

/**
 * Returns the operations of an orphaned block to SENT, and those that one in it replaced. Where several have one nonce, or
 * another one with it was sent meanwhile, one waits and the others stay replaced.
 */
export const returnOperationsToSent = (tx: Db, nowMs: number, blockchain: string, blockHash: string) =>
  tx.all<Ref & { state: UserOperationState }>(sql`with orphaned as materialized (
      select u.entity_id, u.id,
        row_number() over (partition by u.entity_id, u.sender, u.nonce
          order by (u.error_reason is not distinct from 'FAILED_REPLACED'), u.id) = 1
        and not exists (select 1 from user_operations o where o.entity_id = u.entity_id
          and o.blockchain = u.blockchain and o.sender = u.sender and o.nonce = u.nonce and o.state = 'SENT') as waits
      from user_operations u where u.blockchain = ${blockchain} and u.block_hash = ${blockHash})
    update user_operations u set state = case when n.waits then 'SENT' else 'FAILED' end,
      error_reason = case when n.waits then null else 'FAILED_REPLACED' end,
      error_details = case when n.waits then null else 'another operation has its nonce' end,
      tx_hash = null, block_hash = null, block_number = null, block_time = null, gas_used = null, fee = null,
      update_date = ${formatInstant(nowMs)}
    from orphaned n where u.entity_id = n.entity_id and u.id = n.id
    returning u.entity_id, u.id, u.state`)

/** Fails operations that no bundle will carry, unless a block holds them. */
export const failUnsentOperations = (tx: Db, nowMs: number, rows: readonly (Ref & { reason: string })[]) =>
  tx.all<Ref>(sql`update user_operations u set state = 'FAILED', error_details = n.r, update_date = ${formatInstant(nowMs)}
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map((row) => row.id)}::uuid[],
      ${rows.map((row) => row.reason)}::text[]) as n(e, i, r)
    where u.entity_id = n.e and u.id = n.i and u.state = 'SENT'
    returning u.entity_id, u.id`)
