import { readMergedPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
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
  const frozenDate = state === 'FROZEN' ? updateDate : null
  const count =
    await tx.run(sql`update wallets set state = ${state}, update_date = ${updateDate}, frozen_date = ${frozenDate}
    where entity_id = ${entityId} and id = ${walletId} and state <> ${state}`)
  return count === 1
}

/** The condition that the wallet of alias `w`, of this entity, is frozen, itself or with the entity. */
export const frozenWalletOf = (entityId: string) => sql`(w.state = 'FROZEN'
  or exists (select 1 from entity_freezes f where f.entity_id = ${entityId}))`

/** Whether a wallet of this address is frozen on any blockchain: all share one key. */
export async function isKeyFrozen(db: Db, entityId: string, address: string): Promise<boolean> {
  const row = await db.maybe(sql`select 1 from wallets w
    where w.entity_id = ${entityId} and w.address = ${address} and ${frozenWalletOf(entityId)} limit 1`)
  return row !== undefined
}

export async function frozenAddresses(
  db: Db,
  entityId: string,
  blockchain: string,
  addresses: readonly string[],
): Promise<string[]> {
  const rows = await db.all<{ address: string }>(sql`select w.address from wallets w
    where w.entity_id = ${entityId} and w.blockchain = ${blockchain} and w.address = any(${addresses}::text[])
      and ${frozenWalletOf(entityId)}`)
  return rows.map(({ address }) => address)
}

/** A freeze that is in force: of the whole entity, or of one of its wallets. */
export type Freeze = {
  /** The id of the entity or of the wallet. */
  id: string
  scope: 'entity' | 'wallet'
  /** The place of a wallet; null of an entity. */
  blockchain: string | null
  address: string | null
  createDate: string
}

const ofEntity = sql`f.id, 'entity' as scope, null::text as blockchain, null::text as address, f.create_date`
const ofWallet = sql`w.id, 'wallet' as scope, w.blockchain, w.address, w.create_date`
const frozenEntity = sql`(select entity_id as id, create_date from entity_freezes) f`
const datedWallets = sql`(select entity_id, id, state, blockchain, address, frozen_date as create_date from wallets) w`

/** The freezes of an entity that are in force, newest first; of one scope where that is named. */
export function freezesPage(db: Db, entityId: string, named: Freeze['scope'] | undefined, page: PageQuery) {
  const only = (scope: Freeze['scope']) => (named && named !== scope ? sql`false` : undefined)
  const entity = {
    columns: ofEntity,
    from: frozenEntity,
    alias: 'f',
    scope: sql`f.id = ${entityId}`,
    filters: [only('entity')],
  }
  // The id of what is frozen no longer stays a valid cursor.
  const wasFrozen = {
    ...entity,
    from: sql`(select ${entityId}::uuid as id, null::timestamptz as create_date) f`,
    filters: [sql`false`],
  }
  const wallets = {
    columns: ofWallet,
    from: datedWallets,
    alias: 'w',
    scope: sql`w.entity_id = ${entityId}`,
    filters: [sql`w.state = 'FROZEN'`, only('wallet')],
  }
  return readMergedPage<Freeze>(db, [entity, wasFrozen, wallets], page)
}

/** The freeze of an entity, or of a wallet by its id; undefined where that is not frozen itself. */
export const findFreeze = (db: Db, entityId: string, walletId: string | undefined) =>
  db.maybe<Freeze>(
    walletId === undefined
      ? sql`select ${ofEntity} from ${frozenEntity} where f.id = ${entityId}`
      : sql`select ${ofWallet} from ${datedWallets}
        where w.entity_id = ${entityId} and w.id = ${walletId} and w.state = 'FROZEN'`,
  )

/** The freezes of an entity, oldest first. */
export const freezesOf = (db: Db, entityId: string, limit: number) =>
  db.all<Freeze>(sql`(select ${ofEntity} from ${frozenEntity} where f.id = ${entityId})
    union all (select ${ofWallet} from ${datedWallets} where w.entity_id = ${entityId} and w.state = 'FROZEN'
      order by w.create_date, w.id limit ${limit})
    limit ${limit}`)
