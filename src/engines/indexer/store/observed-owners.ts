import { type Db, jsonOf, sql } from '#runtime/db/db'

/** Owners that a managed account got in a block, by the ids that its contracts give them. */
export type ObservedOwners = {
  entityId: string
  blockchain: string
  blockHash: string
  blockNumber: number
  logIndex: number
  account: string
  ownerIds: readonly string[]
}

export async function insertOwners(tx: Db, rows: readonly ObservedOwners[]): Promise<void> {
  if (rows.length === 0) return
  await tx.run(sql`insert into observed_owners (entity_id, blockchain, block_hash, block_number, log_index, account, owner_ids)
    select row.entity_id, row.blockchain, row.block_hash, row.block_number, row.log_index, row.account, row.owner_ids
    from jsonb_to_recordset(${jsonOf(rows)}::jsonb) as row(entity_id uuid, blockchain text, block_hash text,
      block_number bigint, log_index integer, account text, owner_ids text[])
    on conflict do nothing`)
}

/** The owners that managed accounts got in one block, in its order. */
export const observedOwnersOf = (db: Db, blockchain: string, blockHash: string) =>
  db.all<ObservedOwners>(sql`select entity_id, blockchain, block_hash, block_number, log_index, account, owner_ids
    from observed_owners where blockchain = ${blockchain} and block_hash = ${blockHash} order by log_index`)

/** Deletes the owners of a block whose stored contents turned out false. */
export const deleteOwners = (tx: Db, blockchain: string, blockHash: string) =>
  tx.run(sql`delete from observed_owners where blockchain = ${blockchain} and block_hash = ${blockHash}`)
