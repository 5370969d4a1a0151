import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, sql } from '#runtime/db/db'
import type { WalletSet } from '../wallets/types.ts'
import type { Sealed } from './keys.ts'

const columns = sql`s.id, s.name, s.custody_type, s.create_date, s.update_date,
  (select u.user_id from user_names u where u.entity_id = s.entity_id and u.id = s.user_id) as user_id`

export const findWalletSet = (db: Db, entityId: string, id: string) =>
  db.maybe<WalletSet>(
    sql`select ${columns} from wallet_sets s where s.entity_id = ${entityId} and s.id = ${id}`,
  )

/** The one wallet set of a user, by the user's internal id. */
export const findUserWalletSet = (db: Db, entityId: string, userId: string) =>
  db.maybe<WalletSet>(
    sql`select ${columns} from wallet_sets s where s.entity_id = ${entityId} and s.user_id = ${userId}`,
  )

export const listWalletSets = (db: Db, entityId: string, page: PageQuery) =>
  readPage<WalletSet>(
    db,
    { columns, from: sql`wallet_sets s`, alias: 's', scope: sql`s.entity_id = ${entityId}`, filters: [] },
    page,
  )

/** Returns the number of wallet sets of an entity, without its users', and lets no other `tx` create one until this one ends. */
export async function lockedSetCount(tx: Db, entityId: string): Promise<number> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`wallet-sets:${entityId}`}, 0))`)
  const row = await tx.one<{ count: number }>(
    sql`select count(*) as count from wallet_sets where entity_id = ${entityId} and user_id is null`,
  )
  return row.count
}

export const insertWalletSet = (
  tx: Db,
  row: {
    entityId: string
    id: string
    userId: string | null
    name: string | null
    sealedEntropy: Buffer
    createDate: string
  },
) =>
  tx.run(sql`insert into wallet_sets (entity_id, id, user_id, name, custody_type, sealed_entropy, create_date,
      update_date)
    values (${row.entityId}, ${row.id}, ${row.userId}, ${row.name}, ${row.userId === null ? 'DEVELOPER' : 'ENDUSER'},
      ${row.sealedEntropy}, ${row.createDate}, ${row.createDate})`)

export const renameWalletSet = (
  tx: Db,
  entityId: string,
  id: string,
  name: string | null,
  updateDate: string,
) =>
  tx.maybe<WalletSet>(sql`update wallet_sets s set name = ${name}, update_date = ${updateDate}
    where s.entity_id = ${entityId} and s.id = ${id} returning ${columns}`)

/** The seed of a wallet set, and the number of its wallets on all chains. */
export type LockedSet = {
  sealedEntropy: Buffer
  walletCount: number
  /** The user whose set it is; null where it is the entity's own. */
  userId: string | null
}

/** Locks a wallet set until the `tx` ends, so that one at a time allocates indexes; `undefined` when there is none. */
export const lockWalletSet = (tx: Db, entityId: string, id: string) =>
  tx.maybe<LockedSet>(sql`select sealed_entropy, wallet_count,
      user_id from wallet_sets where entity_id = ${entityId} and id = ${id} for no key update`)

/** Adds to the number of wallets of a set. */
export const addToWalletCount = (tx: Db, entityId: string, id: string, added: number) =>
  tx.run(sql`update wallet_sets set wallet_count = wallet_count + ${added}
    where entity_id = ${entityId} and id = ${id}`)

/** Locks and returns a batch of an entity's own sealed entropies, to reseal them. */
export const lockEntropies = (tx: Db, entityId: string, afterId: string, limit: number) =>
  tx.all<Sealed>(sql`select id, sealed_entropy as sealed from wallet_sets
    where entity_id = ${entityId} and user_id is null and id > ${afterId} order by id limit ${limit}
    for no key update`)

export const resealEntropies = (tx: Db, entityId: string, rows: readonly Sealed[]) =>
  tx.run(sql`update wallet_sets s set sealed_entropy = row.sealed
    from unnest(${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.sealed)}::bytea[]) as row(id, sealed)
    where s.entity_id = ${entityId} and s.id = row.id`)
