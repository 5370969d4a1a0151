import { type Db, sql } from '#runtime/db/db'

/** The treasury that pays the gas of an entity's operations on a chain. */
export type Sponsor = {
  entityId: string
  blockchain: string
  treasuryId: string
  keyId: string
  address: string
}

export const findSponsor = (db: Db, entityId: string, blockchain: string) =>
  db.maybe<Sponsor>(sql`select entity_id as "entityId", blockchain, treasury_id as "treasuryId", key_id as "keyId", address
    from sponsors where entity_id = ${entityId} and blockchain = ${blockchain}`)

/** Sets the sponsor of an entity on a chain, once. */
export const insertSponsor = (tx: Db, row: Sponsor & { createDate: string }) =>
  tx.run(sql`insert into sponsors (entity_id, blockchain, treasury_id, key_id, address, create_date)
    values (${row.entityId}, ${row.blockchain}, ${row.treasuryId}, ${row.keyId}, ${row.address}, ${row.createDate})
    on conflict (entity_id, blockchain) do nothing`)
