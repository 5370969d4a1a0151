import { type Db, sql } from '#runtime/db/db'
import {
  bigint,
  boolean,
  integer,
  numeric,
  type RowOf,
  table,
  text,
  timestamptz,
  uuid,
} from '#runtime/db/table'

/** A user operation of a managed account in a block, with its outcome. */
export type ObservedOperation = RowOf<typeof operations>

const operations = table('observed_operations', {
  entityId: uuid,
  blockchain: text,
  blockHash: text,
  blockNumber: bigint,
  txHash: text,
  logIndex: integer,
  userOpHash: text,
  account: text,
  nonce: numeric,
  success: boolean,
  gasUsed: numeric,
  fee: numeric,
  blockTime: timestamptz,
})

export async function insertObservedOperations(tx: Db, rows: readonly ObservedOperation[]): Promise<void> {
  if (rows.length === 0) return
  await tx.run(sql`${operations.insert(rows)} on conflict do nothing`)
}

/** The operations of managed accounts in one block. */
export const observedOperationsOf = (db: Db, blockchain: string, blockHash: string) =>
  db.all<ObservedOperation>(sql`select ${operations.columns()}
    from observed_operations where blockchain = ${blockchain} and block_hash = ${blockHash} order by log_index`)

/** Deletes the operations of a block whose stored contents turned out false. */
export const deleteOperations = (tx: Db, blockchain: string, blockHash: string) =>
  tx.run(sql`delete from observed_operations where blockchain = ${blockchain} and block_hash = ${blockHash}`)
