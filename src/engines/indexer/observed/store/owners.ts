import { type Db, sql } from '#runtime/db/db'
import { bigint, integer, type RowOf, table, text, texts, uuid } from '#runtime/db/table'

/** Owners that a managed account got in a block, by the ids that its contracts give them. */
export type ObservedOwners = RowOf<typeof owners>

const owners = table('observed_owners', {
  entityId: uuid,
  blockchain: text,
  blockHash: text,
  blockNumber: bigint,
  logIndex: integer,
  account: text,
  ownerIds: texts,
})

export async function insertOwners(tx: Db, rows: readonly ObservedOwners[]): Promise<void> {
  if (rows.length === 0) return
  await tx.run(sql`${owners.insert(rows)} on conflict do nothing`)
}

/** The owners that managed accounts got in one block, in its order. */
export const observedOwnersOf = (db: Db, blockchain: string, blockHash: string) =>
  db.all<ObservedOwners>(sql`select ${owners.columns()}
    from observed_owners where blockchain = ${blockchain} and block_hash = ${blockHash} order by log_index`)

/** Deletes the owners of a block whose stored contents turned out false. */
export const deleteOwners = (tx: Db, blockchain: string, blockHash: string) =>
  tx.run(sql`delete from observed_owners where blockchain = ${blockchain} and block_hash = ${blockHash}`)
