import { type Db, jsonOf, sql } from '#runtime/db/db'

/** A user operation of a managed account in a block, with its outcome. */
export type ObservedOperation = {
  entityId: string
  blockchain: string
  blockHash: string
  blockNumber: number
  txHash: string
  logIndex: number
  userOpHash: string
  account: string
  nonce: bigint
  success: boolean
  gasUsed: bigint
  fee: bigint
  blockTime: string
}

export async function insertOperations(tx: Db, rows: readonly ObservedOperation[]): Promise<void> {
  if (rows.length === 0) return
  await tx.run(sql`insert into observed_operations (entity_id, blockchain, block_hash, block_number, tx_hash, log_index,
      user_op_hash, account, nonce, success, gas_used, fee, block_time)
    select * from jsonb_to_recordset(${jsonOf(rows)}::jsonb) as row(entity_id uuid, blockchain text, block_hash text,
      block_number bigint, tx_hash text, log_index integer, user_op_hash text, account text, nonce numeric, success boolean,
      gas_used numeric, fee numeric, block_time timestamptz)
    on conflict do nothing`)
}

/** The operations of managed accounts in one block. */
export const observedOperationsOf = (db: Db, blockchain: string, blockHash: string) =>
  db.all<ObservedOperation>(sql`select entity_id, blockchain, block_hash, block_number, tx_hash, log_index, user_op_hash,
      account, nonce, success, gas_used, fee, block_time
    from observed_operations where blockchain = ${blockchain} and block_hash = ${blockHash} order by log_index`)

/** Deletes the operations of a block whose stored contents turned out false. */
export const deleteOperations = (tx: Db, blockchain: string, blockHash: string) =>
  tx.run(sql`delete from observed_operations where blockchain = ${blockchain} and block_hash = ${blockHash}`)
