import type { Ref } from '#engines/transactions/index'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, listedWord, raw, sql } from '#runtime/db/db'
import {
  bigint,
  integer,
  nullable,
  numeric,
  type RowOf,
  table,
  text,
  textOf,
  timestamptz,
  uuid,
} from '#runtime/db/table'

type TransferType = 'INBOUND_TRANSFER' | 'OUTBOUND_TRANSFER'
type TransferState = 'CONFIRMED' | 'COMPLETE' | 'FAILED'

/** A transfer of a modular wallet, from its side. `amount` is in base units. */
export type ModularTransfer = RowOf<typeof transfers>

const transfers = table('modular_transfers', {
  entityId: uuid,
  id: uuid,
  walletId: uuid,
  walletAddress: text,
  blockchain: text,
  transferType: textOf<TransferType>(),
  state: textOf<TransferState>(),
  tokenId: uuid,
  amount: numeric,
  fromAddress: text,
  toAddress: text,
  userOpHash: nullable(text),
  txHash: text,
  ordinal: integer,
  blockHash: text,
  blockNumber: bigint,
  blockTime: timestamptz,
  createDate: timestamptz,
  updateDate: timestamptz,
})

const columns = transfers.columns('t')

export const findModularTransfer = (db: Db, entityId: string, id: string) =>
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
        filters.blockchain === undefined ? undefined : sql`t.blockchain = ${listedWord(filters.blockchain)}`,
        filters.state === undefined ? undefined : sql`t.state = ${listedWord(filters.state)}`,
        filters.transferType === undefined
          ? undefined
          : sql`t.transfer_type = ${listedWord(filters.transferType)}`,
        filters.txHash === undefined ? undefined : sql`t.tx_hash = ${filters.txHash}`,
        filters.userOpHash === undefined ? undefined : sql`t.user_op_hash = ${filters.userOpHash}`,
      ],
      among: { column: raw('t.wallet_address'), type: 'text', values: walletAddresses },
    },
    page,
  )

type NewTransfer = Omit<ModularTransfer, 'id' | 'state' | 'createDate' | 'updateDate'>

/** Records the transfers of a block; the same transfer in another block updates the same row. */
export function saveTransfers(tx: Db, nowMs: number, rows: readonly NewTransfer[]): Promise<Ref[]> {
  const at = formatInstant(nowMs)
  const added = rows.map((row) => {
    const state = 'CONFIRMED' as const
    return { ...row, id: newId(nowMs), state, createDate: at, updateDate: at }
  })
  return tx.all<Ref>(sql`${transfers.insert(added, 't')}
    on conflict (entity_id, blockchain, tx_hash, wallet_address, transfer_type, token_id, ordinal) do update
      set state = 'CONFIRMED', amount = excluded.amount, from_address = excluded.from_address,
        to_address = excluded.to_address, user_op_hash = excluded.user_op_hash, block_hash = excluded.block_hash,
        block_number = excluded.block_number, block_time = excluded.block_time, update_date = excluded.update_date
    returning t.entity_id, t.id`)
}

export const completeTransfers = (tx: Db, nowMs: number, blockchain: string, completeTo: number) =>
  tx.all<Ref>(sql`update modular_transfers t set state = 'COMPLETE', update_date = ${formatInstant(nowMs)}
    where t.blockchain = ${blockchain} and t.state = 'CONFIRMED' and t.block_number <= ${completeTo}
    returning t.entity_id, t.id`)

/** Fails the transfers of an orphaned block; one that another block holds is confirmed again. */
export const failTransfers = (tx: Db, nowMs: number, blockchain: string, blockHash: string) =>
  tx.all<Ref>(sql`update modular_transfers t set state = 'FAILED', update_date = ${formatInstant(nowMs)}
    where t.blockchain = ${blockchain} and t.block_hash = ${blockHash} and t.state <> 'FAILED'
    returning t.entity_id, t.id`)
