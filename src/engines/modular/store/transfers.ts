import type { Ref } from '#engines/transactions/index'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, jsonOf, sql } from '#runtime/db/db'

type TransferType = 'INBOUND_TRANSFER' | 'OUTBOUND_TRANSFER'
type TransferState = 'CONFIRMED' | 'COMPLETE' | 'FAILED'

/** A transfer of a modular wallet, from its side. `amount` is in base units. */
export type ModularTransfer = {
  entityId: string
  id: string
  walletId: string
  walletAddress: string
  blockchain: string
  transferType: TransferType
  state: TransferState
  tokenId: string
  amount: bigint
  fromAddress: string
  toAddress: string
  userOpHash: string | null
  txHash: string
  ordinal: number
  blockHash: string
  blockNumber: number
  blockTime: string
  createDate: string
  updateDate: string
}

const columns = sql`t.entity_id, t.id, t.wallet_id, t.wallet_address, t.blockchain, t.transfer_type, t.state, t.token_id,
  t.amount, t.from_address, t.to_address, t.user_op_hash, t.tx_hash, t.ordinal, t.block_hash, t.block_number, t.block_time,
  t.create_date, t.update_date`

export const findTransfer = (db: Db, entityId: string, id: string) =>
  db.maybe<ModularTransfer>(sql`select ${columns} from modular_transfers t
    where t.entity_id = ${entityId} and t.id = ${id}`)

type ModularTransferFilters = {
  walletAddresses: readonly string[]
  blockchain: string | undefined
  state: string | undefined
  transferType: string | undefined
  txHash: string | undefined
  userOpHash: string | undefined
}

export const transfersPage = (
  db: Db,
  entityId: string,
  { walletAddresses, ...filters }: ModularTransferFilters,
  page: PageQuery,
) =>
  readPage<ModularTransfer>(
    db,
    {
      columns,
      from: sql`modular_transfers t`,
      alias: 't',
      scope: sql`t.entity_id = ${entityId}`,
      filters: [
        sql`t.wallet_address = any(${walletAddresses}::text[])`,
        filters.blockchain === undefined ? undefined : sql`t.blockchain = ${filters.blockchain}`,
        filters.state === undefined ? undefined : sql`t.state = ${filters.state}`,
        filters.transferType === undefined ? undefined : sql`t.transfer_type = ${filters.transferType}`,
        filters.txHash === undefined ? undefined : sql`t.tx_hash = ${filters.txHash}`,
        filters.userOpHash === undefined ? undefined : sql`t.user_op_hash = ${filters.userOpHash}`,
      ],
    },
    page,
  )

type NewTransfer = Omit<ModularTransfer, 'id' | 'state' | 'createDate' | 'updateDate'>

/** Records the transfers of a block; the same transfer in another block updates the same row. */
export const saveTransfers = (tx: Db, nowMs: number, rows: readonly NewTransfer[]) =>
  tx.all<Ref>(sql`insert into modular_transfers as t (entity_id, id, wallet_id, wallet_address, blockchain, transfer_type,
      state, token_id, amount, from_address, to_address, user_op_hash, tx_hash, ordinal, block_hash, block_number, block_time,
      create_date, update_date)
    select row.entity_id, row.id, row.wallet_id, row.wallet_address, row.blockchain, row.transfer_type, 'CONFIRMED',
      row.token_id, row.amount, row.from_address, row.to_address, row.user_op_hash, row.tx_hash, row.ordinal,
      row.block_hash, row.block_number, row.block_time, ${formatInstant(nowMs)}, ${formatInstant(nowMs)}
    from jsonb_to_recordset(${jsonOf(rows.map((row) => ({ ...row, id: newId(nowMs) })))}::jsonb) as row(entity_id uuid,
      id uuid, wallet_id uuid, wallet_address text, blockchain text, transfer_type text, token_id uuid, amount numeric,
      from_address text, to_address text, user_op_hash text, tx_hash text, ordinal integer, block_hash text,
      block_number bigint, block_time timestamptz)
    on conflict (entity_id, blockchain, tx_hash, wallet_address, transfer_type, token_id, ordinal) do update
      set state = 'CONFIRMED', amount = excluded.amount, from_address = excluded.from_address,
        to_address = excluded.to_address, user_op_hash = excluded.user_op_hash, block_hash = excluded.block_hash,
        block_number = excluded.block_number, block_time = excluded.block_time, update_date = excluded.update_date
    returning t.entity_id, t.id`)

export const completeTransfers = (tx: Db, nowMs: number, blockchain: string, completeTo: number) =>
  tx.all<Ref>(sql`update modular_transfers t set state = 'COMPLETE', update_date = ${formatInstant(nowMs)}
    where t.blockchain = ${blockchain} and t.state = 'CONFIRMED' and t.block_number <= ${completeTo}
    returning t.entity_id, t.id`)

/** Fails the transfers of an orphaned block; one that another block holds is confirmed again. */
export const failTransfers = (tx: Db, nowMs: number, blockchain: string, blockHash: string) =>
  tx.all<Ref>(sql`update modular_transfers t set state = 'FAILED', update_date = ${formatInstant(nowMs)}
    where t.blockchain = ${blockchain} and t.block_hash = ${blockHash} and t.state <> 'FAILED'
    returning t.entity_id, t.id`)
