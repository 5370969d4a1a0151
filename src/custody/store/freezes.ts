import { type Db, sql } from '#runtime/db/db'

const keyOf = (entity: ReturnType<typeof sql>) => sql`hashtextextended('freeze:' || ${entity}, 0)`

/**
 * Takes the freeze locks of these entities, shared with other signers. A signer holds them from before it checks for freezes until
 * its `tx` ends; `lockFreezes` waits for it. So no signature that missed a freeze is in progress once the freeze has committed.
 */
export const shareFreezes = (tx: Db, entityIds: readonly string[]) =>
  tx.run(sql`select pg_advisory_xact_lock_shared(${keyOf(sql`id`)})
    from (select distinct id from unnest(${entityIds}::uuid[]::text[]) as asked(id) order by id) as ordered`)

/** Takes the freeze lock of an entity alone, until the `tx` ends: before a freeze begins or ends. */
export const lockFreezes = (tx: Db, entityId: string) =>
  tx.run(sql`select pg_advisory_xact_lock(${keyOf(sql`${entityId}::uuid::text`)})`)

/** Whether a freeze of the whole entity is in force. */
export async function isEntityFrozen(db: Db, entityId: string): Promise<boolean> {
  return (await db.maybe(sql`select 1 from entity_freezes where entity_id = ${entityId}`)) !== undefined
}

/** Freezes an entity; returns false when it was frozen before. */
export async function insertEntityFreeze(tx: Db, entityId: string, createDate: string): Promise<boolean> {
  const count = await tx.run(sql`insert into entity_freezes (entity_id, create_date)
    values (${entityId}, ${createDate}) on conflict do nothing`)
  return count === 1
}

/** Ends the freeze of an entity; returns false when there was none. */
export async function deleteEntityFreeze(tx: Db, entityId: string): Promise<boolean> {
  return (await tx.run(sql`delete from entity_freezes where entity_id = ${entityId}`)) === 1
}

/** Sets the state of a wallet, apart from any freeze of its entity; returns whether it changed. */
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

/** The condition that the wallet of alias `w` is frozen, itself or with its entity. */
export const frozenWallet = sql`(w.state = 'FROZEN'
  or exists (select 1 from entity_freezes f where f.entity_id = w.entity_id))`

/** Whether a wallet of this address is frozen on any blockchain: all share one key. */
export async function isKeyFrozen(db: Db, entityId: string, address: string): Promise<boolean> {
  const row = await db.maybe(sql`select 1 from wallets w
    where w.entity_id = ${entityId} and w.address = ${address} and ${frozenWallet} limit 1`)
  return row !== undefined
}

export async function isAddressFrozen(
  db: Db,
  entityId: string,
  blockchain: string,
  address: string,
): Promise<boolean> {
  const row = await db.maybe(sql`select 1 from wallets w
    where w.entity_id = ${entityId} and w.blockchain = ${blockchain} and w.address = ${address} and ${frozenWallet}`)
  return row !== undefined
}
