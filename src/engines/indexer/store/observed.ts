import type { ManagedPurpose } from '#custody/wallets/index'
import { newId } from '#lib/ids'
import { type Db, jsonOf, sql } from '#runtime/db/db'

/** A transfer from the side of one managed address: an `in` and an `out` row when both sides are managed. */
export type ObservedTransfer = {
  entityId: string
  id: string
  blockchain: string
  blockHash: string
  blockNumber: number
  txHash: string
  /** -1 for the value of the transaction itself. */
  logIndex: number
  direction: 'in' | 'out'
  tokenId: string
  fromAddress: string
  toAddress: string
  amount: bigint
  address: string
  purpose: ManagedPurpose
  ownerId: string
  blockTime: string
}

/** A transaction that a managed address sent, with its outcome. */
export type ObservedTransaction = {
  entityId: string
  blockchain: string
  blockHash: string
  blockNumber: number
  txHash: string
  address: string
  nonce: number
  success: boolean
  gasUsed: bigint
  fee: bigint
  blockTime: string
}

/** Inserts the transfers of one block; the columns of the block are sent once. */
export async function insertTransfers(
  tx: Db,
  nowMs: number,
  rows: readonly Omit<ObservedTransfer, 'id'>[],
): Promise<void> {
  const [first] = rows
  if (!first) return
  await tx.run(sql`insert into observed_transfers (blockchain, block_hash, block_number, block_time, entity_id, id,
      tx_hash, log_index, direction, token_id, from_address, to_address, amount, address, purpose, owner_id)
    select ${first.blockchain}, ${first.blockHash}, ${first.blockNumber}::bigint, ${first.blockTime}::timestamptz, row.*
    from unnest(${rows.map((row) => row.entityId)}::uuid[], ${rows.map(() => newId(nowMs))}::uuid[],
      ${rows.map((row) => row.txHash)}::text[], ${rows.map((row) => row.logIndex)}::integer[],
      ${rows.map((row) => row.direction)}::text[], ${rows.map((row) => row.tokenId)}::uuid[],
      ${rows.map((row) => row.fromAddress)}::text[], ${rows.map((row) => row.toAddress)}::text[],
      ${rows.map((row) => row.amount.toString())}::numeric[], ${rows.map((row) => row.address)}::text[],
      ${rows.map((row) => row.purpose)}::text[], ${rows.map((row) => row.ownerId)}::uuid[]) as row
    on conflict do nothing`)
}

export async function insertTransactions(tx: Db, rows: readonly ObservedTransaction[]): Promise<void> {
  if (rows.length === 0) return
  await tx.run(sql`insert into observed_transactions (entity_id, blockchain, block_hash, block_number, tx_hash, address,
      nonce, success, gas_used, fee, block_time)
    select * from jsonb_to_recordset(${jsonOf(rows)}::jsonb) as row(entity_id uuid, blockchain text, block_hash text,
      block_number bigint, tx_hash text, address text, nonce bigint, success boolean, gas_used numeric, fee numeric,
      block_time timestamptz)
    on conflict do nothing`)
}

/** Deletes the stored contents of a block that turned out false. No engine may still have to revert its changes from them. */
export async function deleteObserved(tx: Db, blockchain: string, blockHash: string): Promise<void> {
  await tx.run(
    sql`delete from observed_transfers where blockchain = ${blockchain} and block_hash = ${blockHash}`,
  )
  await tx.run(
    sql`delete from observed_token_transfers where blockchain = ${blockchain} and block_hash = ${blockHash}`,
  )
  await tx.run(
    sql`delete from observed_transactions where blockchain = ${blockchain} and block_hash = ${blockHash}`,
  )
}

/** The transfers of managed addresses in one block, in block order. */
export const observedTransfersOf = (db: Db, blockchain: string, blockHash: string) =>
  db.all<ObservedTransfer>(sql`select entity_id, id, blockchain, block_hash, block_number, tx_hash, log_index, direction,
      token_id, from_address, to_address, amount, address, purpose, owner_id, block_time
    from observed_transfers where blockchain = ${blockchain} and block_hash = ${blockHash} order by log_index, id`)

/** The transactions of managed senders in one block, with their outcomes. */
export const observedTransactionsOf = (db: Db, blockchain: string, blockHash: string) =>
  db.all<ObservedTransaction>(sql`select entity_id, blockchain, block_hash, block_number, tx_hash, address, nonce, success,
      gas_used, fee, block_time
    from observed_transactions where blockchain = ${blockchain} and block_hash = ${blockHash}`)

/** The transactions of managed senders in the canonical blocks of this range. */
export const canonicalTransactionsBetween = (
  db: Db,
  blockchain: string,
  fromNumber: number,
  toNumber: number,
) =>
  db.all<
    Pick<ObservedTransaction, 'entityId' | 'address' | 'nonce' | 'txHash'>
  >(sql`select o.entity_id, o.address, o.nonce, o.tx_hash
    from blocks b join observed_transactions o on o.blockchain = b.blockchain and o.block_hash = b.hash
    where b.blockchain = ${blockchain} and b.number between ${fromNumber} and ${toNumber} and b.canonical`)

/** The final transactions that used these nonces; a block that was pruned had been final. */
export const finalNonceUses = (
  db: Db,
  blockchain: string,
  finalTo: number,
  nonces: readonly { entityId: string; address: string; nonce: number }[],
) =>
  db.all<
    Pick<ObservedTransaction, 'entityId' | 'address' | 'nonce' | 'txHash'>
  >(sql`select o.entity_id, o.address, o.nonce, o.tx_hash
    from unnest(${nonces.map((row) => row.entityId)}::uuid[], ${nonces.map((row) => row.address)}::text[],
      ${nonces.map((row) => row.nonce)}::int8[]) as n(e, a, k)
    join observed_transactions o on o.entity_id = n.e and o.blockchain = ${blockchain} and o.address = n.a and o.nonce = n.k
    left join blocks b on b.blockchain = o.blockchain and b.hash = o.block_hash
    where coalesce(b.canonical, true) and o.block_number <= ${finalTo}`)
