import { type Db, sql } from '#runtime/db/db'

export type EntitySecretRow = { checkValue: Buffer; generation: number }

export const findEntitySecret = (db: Db, entityId: string) =>
  db.maybe<EntitySecretRow>(sql`select check_value as "checkValue", generation
    from entity_secrets where entity_id = ${entityId}`)

/** Finds and locks the secret, so that no ciphertext of this entity is spent until the tx ends. */
export const lockEntitySecret = (tx: Db, entityId: string) =>
  tx.maybe<EntitySecretRow>(sql`select check_value as "checkValue", generation
    from entity_secrets where entity_id = ${entityId} for update`)

/** Inserts the entity's secret; false when it has one already. */
export async function insertEntitySecret(
  tx: Db,
  row: { entityId: string; checkValue: Buffer; createDate: string },
): Promise<boolean> {
  const count = await tx.run(sql`insert into entity_secrets (entity_id, check_value, create_date, update_date)
    values (${row.entityId}, ${row.checkValue}, ${row.createDate}, ${row.createDate}) on conflict do nothing`)
  return count === 1
}

export const replaceEntitySecret = (
  tx: Db,
  row: { entityId: string; checkValue: Buffer; generation: number; updateDate: string },
) =>
  tx.run(sql`update entity_secrets set check_value = ${row.checkValue}, generation = ${row.generation},
    update_date = ${row.updateDate} where entity_id = ${row.entityId}`)

export type Spent = { entityId: string; sha256: Buffer; createDate: string }

/**
 * Spends a ciphertext and shares a lock on the secret, so that a rotation waits for this tx. False when the secret is no
 * longer of this generation. A ciphertext spent before violates the primary key.
 */
export async function insertSpent(tx: Db, spent: Spent, generation: number): Promise<boolean> {
  const count = await tx.run(sql`with current as (select entity_id from entity_secrets
      where entity_id = ${spent.entityId} and generation = ${generation} for key share)
    insert into spent_ciphertexts (entity_id, sha256, create_date)
    select entity_id, ${spent.sha256}, ${spent.createDate}::timestamptz from current`)
  return count === 1
}

/** Spends a ciphertext; false when it was spent before. */
export async function insertSpentOnce(db: Db, spent: Spent): Promise<boolean> {
  const count = await db.run(sql`insert into spent_ciphertexts (entity_id, sha256, create_date)
    values (${spent.entityId}, ${spent.sha256}, ${spent.createDate}) on conflict do nothing`)
  return count === 1
}

/** Spends a ciphertext if it opened; false when it did not, or was spent before, by the same query. */
export async function insertSpentIf(tx: Db, spent: Spent, opened: boolean): Promise<boolean> {
  const count = await tx.run(sql`insert into spent_ciphertexts (entity_id, sha256, create_date)
    select ${spent.entityId}::uuid, ${spent.sha256}::bytea, ${spent.createDate}::timestamptz where ${opened}::boolean
    on conflict do nothing`)
  return count === 1
}
