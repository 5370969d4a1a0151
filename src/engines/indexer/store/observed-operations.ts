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
    select * from jsonb_to_recordset(${jsonOf(rows)}::jsonb) as row("entityId" uuid, blockchain text, "blockHash" text,
      "blockNumber" bigint, "txHash" text, "logIndex" integer, "userOpHash" text, account text, nonce numeric, success boolean,
      "gasUsed" numeric, fee numeric, "blockTime" timestamptz)
    on conflict do nothing`)
}

/** The operations of managed accounts in one block. */
export const observedOperationsOf = (db: Db, blockchain: string, blockHash: string) =>
  db.all<ObservedOperation>(sql`select entity_id as "entityId", blockchain, block_hash as "blockHash",
      block_number as "blockNumber", tx_hash as "txHash", log_index as "logIndex", user_op_hash as "userOpHash", account,
      nonce, success, gas_used as "gasUsed", fee, block_time as "blockTime"
    from observed_operations where blockchain = ${blockchain} and block_hash = ${blockHash} order by log_index`)

/** Deletes the operations of a block whose stored contents turned out false. */
export const deleteOperations = (tx: Db, blockchain: string, blockHash: string) =>
  tx.run(sql`delete from observed_operations where blockchain = ${blockchain} and block_hash = ${blockHash}`)
