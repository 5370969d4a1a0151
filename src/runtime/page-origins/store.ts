import { type Db, sql } from '#runtime/db/db'

export type PageOrigin = { origin: string; createDate: string }

/** Locks the list of an entity until the end of `tx`, so that its changes follow one another. */
export const lockPageOrigins = (tx: Db, entityId: string) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended('page-origins:' || ${entityId}::text, 0))`)

export const findPageOrigins = (db: Db, entityId: string) =>
  db.all<PageOrigin>(sql`select origin, create_date from page_origins
    where entity_id = ${entityId} order by origin collate "C"`)

export const insertPageOrigin = (tx: Db, entityId: string, origin: string, createDate: string) =>
  tx.run(sql`insert into page_origins (entity_id, origin, create_date)
    values (${entityId}, ${origin}, ${createDate})`)

export const deletePageOrigin = (tx: Db, entityId: string, origin: string) =>
  tx.run(sql`delete from page_origins where entity_id = ${entityId} and origin = ${origin}`)

/** Whether the entity lists the origin; any entity without an id. */
export async function isListed(db: Db, origin: string, entityId?: string): Promise<boolean> {
  const row = await db.maybe(sql`select 1 from page_origins
    where origin = ${origin} and (${entityId ?? null}::uuid is null or entity_id = ${entityId ?? null}) limit 1`)
  return row !== undefined
}
