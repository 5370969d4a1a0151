import { newId } from '#lib/ids'
import { type Db, sql } from '#runtime/db/db'

/** A transfer that the contract of an unlisted token claims, from the side of one wallet. */
export type ObservedTokenTransfer = {
  entityId: string
  id: string
  blockchain: string
  blockHash: string
  blockNumber: number
  txHash: string
  logIndex: number
  /** The place among the items of one log. */
  position: number
  direction: 'in' | 'out'
  tokenAddress: string
  standard: string
  itemId: bigint | null
  fromAddress: string
  toAddress: string
  amount: bigint
  address: string
  walletId: string
  blockTime: string
}

/** Inserts the transfers of one block. */
export async function insertTokenTransfers(
  tx: Db,
  nowMs: number,
  rows: readonly Omit<ObservedTokenTransfer, 'id'>[],
): Promise<void> {
  const [first] = rows
  if (!first) return
  await tx.run(sql`insert into observed_token_transfers (blockchain, block_hash, block_number, block_time, entity_id, id,
      tx_hash, log_index, position, direction, token_address, standard, item_id, from_address, to_address, amount, address,
      wallet_id)
    select ${first.blockchain}, ${first.blockHash}, ${first.blockNumber}::bigint, ${first.blockTime}::timestamptz, row.*
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map(() => newId(nowMs))}::uuid[],
      ${rows.map((row) => row.txHash)}::text[], ${rows.map((row) => row.logIndex)}::integer[],
      ${rows.map((row) => row.position)}::integer[], ${rows.map((row) => row.direction)}::text[],
      ${rows.map((row) => row.tokenAddress)}::text[], ${rows.map((row) => row.standard)}::text[],
      ${rows.map((row) => row.itemId?.toString() ?? null)}::numeric[], ${rows.map((row) => row.fromAddress)}::text[],
      ${rows.map((row) => row.toAddress)}::text[], ${rows.map((row) => row.amount.toString())}::numeric[],
      ${rows.map((row) => row.address)}::text[], ${rows.map((row) => row.walletId)}::uuid[]) as row
    on conflict do nothing`)
}

/** The transfers of unlisted tokens in one block, in block order. */
export const observedTokenTransfersOf = (db: Db, blockchain: string, blockHash: string) =>
  db.all<ObservedTokenTransfer>(sql`select entity_id as "entityId", id, blockchain, block_hash as "blockHash",
      block_number as "blockNumber", tx_hash as "txHash", log_index as "logIndex", position, direction,
      token_address as "tokenAddress", standard, item_id as "itemId", from_address as "fromAddress",
      to_address as "toAddress", amount, address, wallet_id as "walletId", block_time as "blockTime"
    from observed_token_transfers where blockchain = ${blockchain} and block_hash = ${blockHash}
    order by log_index, position, id`)
