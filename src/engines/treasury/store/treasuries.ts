import { type Db, sql } from '#runtime/db/db'

/** The address that pays out an entity's coins on one chain. */
export type TreasuryRow = {
  entityId: string
  id: string
  blockchain: string
  family: string
  address: string
  keyId: string
}

/** Serializes the creation of an entity's treasuries until the `tx` ends. */
export const lockTreasuries = (tx: Db, entityId: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`treasury:${entityId}`}, 0))`)

export const treasuriesOf = (db: Db, entityId: string) =>
  db.all<TreasuryRow>(sql`select entity_id, id, blockchain, family, address, key_id
    from treasuries where entity_id = ${entityId}`)

export const insertTreasury = (tx: Db, row: TreasuryRow & { createDate: string }) =>
  tx.run(sql`insert into treasuries (entity_id, id, blockchain, family, address, key_id, create_date)
    values (${row.entityId}, ${row.id}, ${row.blockchain}, ${row.family}, ${row.address}, ${row.keyId},
      ${row.createDate})`)
