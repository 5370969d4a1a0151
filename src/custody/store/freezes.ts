import { type Db, sql } from '#runtime/db/db'

const keyOf = (entity: ReturnType<typeof sql>) => sql`hashtextextended('freeze:' || ${entity}, 0)`

/**
 * Shares the freeze lock. A signer holds it from before it checks for freezes until its `tx` ends; a freeze takes it
 * exclusively. Once a freeze is made, no signature is in progress that did not see it.
 */
export const shareFreezes = (tx: Db, entityIds: readonly string[]) =>
  tx.run(sql`select pg_advisory_xact_lock_shared(${keyOf(sql`id`)})
    from (select distinct id from unnest(${entityIds}::uuid[]::text[]) as asked(id) order by id) as ordered`)

export const lockFreezes = (tx: Db, entityId: string) =>
  tx.run(sql`select pg_advisory_xact_lock(${keyOf(sql`${entityId}::uuid::text`)})`)

export async function findEntityFreeze(db: Db, entityId: string): Promise<boolean> {
  return (await db.maybe(sql`select 1 from entity_freezes where entity_id = ${entityId}`)) !== undefined
}

/** Freezes an entity; false when it was frozen before. */
export async function insertEntityFreeze(tx: Db, entityId: string, createDate: string): Promise<boolean> {
  const count = await tx.run(sql`insert into entity_freezes (entity_id, create_date)
    values (${entityId}, ${createDate}) on conflict do nothing`)
  return count === 1
}

export async function deleteEntityFreeze(tx: Db, entityId: string): Promise<boolean> {
  return (await tx.run(sql`delete from entity_freezes where entity_id = ${entityId}`)) === 1
}

/** Sets the state of a wallet, apart from any freeze of its entity. True when it changed. */
export async function setWalletState(
  tx: Db,
  entityId: string,
  walletId: string,
  state: 'LIVE' | 'FROZEN',
  updateDate: string,
): Promise<boolean> {
  const count = await tx.run(sql`update wallets set state = ${state}, update_date = ${updateDate}
    where entity_id = ${entityId} and id = ${walletId} and state <> ${state}`)
  return count === 1
}

/** Whether the wallet of alias `w` is frozen, itself or with its entity. */
export const isFrozen = sql`(w.state = 'FROZEN'
  or exists (select 1 from entity_freezes f where f.entity_id = w.entity_id))`

/** Whether a wallet of this address is frozen on any blockchain: all share one key. */
export async function isKeyFrozen(db: Db, entityId: string, address: string): Promise<boolean> {
  const row = await db.maybe(sql`select 1 from wallets w
    where w.entity_id = ${entityId} and w.address = ${address} and ${isFrozen} limit 1`)
  return row !== undefined
}

export async function isAddressFrozen(
  db: Db,
  entityId: string,
  blockchain: string,
  address: string,
): Promise<boolean> {
  const row = await db.maybe(sql`select 1 from wallets w
    where w.entity_id = ${entityId} and w.blockchain = ${blockchain} and w.address = ${address} and ${isFrozen}`)
  return row !== undefined
}
