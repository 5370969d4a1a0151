import { type Db, sql } from '#runtime/db/db'

type EntitySecretRow = { checkValue: Buffer; generation: number }

export const findEntitySecret = (db: Db, entityId: string) =>
  db.maybe<EntitySecretRow>(sql`select check_value, generation
    from entity_secrets where entity_id = ${entityId}`)

/** Finds and locks the secret, so that no ciphertext of this entity is spent until the tx ends. */
export const lockEntitySecret = (tx: Db, entityId: string) =>
  tx.maybe<EntitySecretRow>(sql`select check_value, generation
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

/** Stores the check value and the generation of the secret that takes the place of the former one. */
export const replaceEntitySecret = (
  tx: Db,
  row: { entityId: string; checkValue: Buffer; generation: number; updateDate: string },
) =>
  tx.run(sql`update entity_secrets set check_value = ${row.checkValue}, generation = ${row.generation},
    update_date = ${row.updateDate} where entity_id = ${row.entityId}`)

/** A ciphertext that was used. `request` is the digest of the only request that may send it again; absent where none may. */
type Spent = { entityId: string; sha256: Buffer; request?: Buffer | undefined; createDate: string }

/**
 * Marks a ciphertext as used and shares a lock on the secret, so that a rotation waits for this tx. `outdated`: the secret is no
 * longer of this generation. `used`: another request sent the ciphertext before.
 */
export async function insertSpent(
  tx: Db,
  spent: Spent,
  generation: number,
): Promise<'spent' | 'used' | 'outdated'> {
  const { outcome } = await tx.one<{
    outcome: 'spent' | 'used' | 'outdated'
  }>(sql`with current as materialized (
      select entity_id from entity_secrets
      where entity_id = ${spent.entityId} and generation = ${generation} for key share
    ), spent as (
      insert into spent_ciphertexts as s (entity_id, sha256, request, create_date)
      select ${spent.entityId}::uuid, ${spent.sha256}::bytea, ${spent.request ?? null}::bytea, ${spent.createDate}::timestamptz
      from current
      on conflict (entity_id, sha256) do update set create_date = s.create_date where s.request = excluded.request
      returning 1
    )
    select case when not exists (select 1 from current) then 'outdated'
      when exists (select 1 from spent) then 'spent' else 'used' end as outcome`)
  return outcome
}

/** Marks a ciphertext as used; returns false when it was used before. */
export async function insertSpentOnce(db: Db, spent: Spent): Promise<boolean> {
  const count = await db.run(sql`insert into spent_ciphertexts (entity_id, sha256, request, create_date)
    values (${spent.entityId}, ${spent.sha256}, ${spent.request ?? null}, ${spent.createDate}) on conflict do nothing`)
  return count === 1
}

/** Marks a ciphertext as used if `opened`; returns false when it was used before or did not open. The query is the same for all. */
export async function insertSpentIf(tx: Db, spent: Spent, opened: boolean): Promise<boolean> {
  // A distributed server counts rows of a query that were there before, too, but returns none of them.
  const inserted = await tx.maybe(sql`insert into spent_ciphertexts (entity_id, sha256, create_date)
    select ${spent.entityId}::uuid, ${spent.sha256}::bytea, ${spent.createDate}::timestamptz where ${opened}::boolean
    on conflict do nothing returning entity_id`)
  return inserted !== undefined
}
