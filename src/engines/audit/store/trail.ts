import { type Db, type Sql, scan, sql } from '#runtime/db/db'
import type { AuditEntry } from '../encoding.ts'
import { type AuditLink, entryColumns, type SignedHead } from './links.ts'

/** One position of a trail: its link, the entry that the link names, and the head where a batch ended. */
export type TrailItem = { link: AuditLink; entry: AuditEntry; head: SignedHead | null }

export type TrailPlace = Pick<AuditLink, 'entityId' | 'position'>

type TrailRow = AuditLink &
  Omit<AuditEntry, 'entityId' | 'id'> & {
    firstPosition: number | null
    headHash: string
    signature: string
    headDate: string
  }

const headDate = sql`to_char(h.create_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** The items behind `after`, by entity and position; of one entity where it is named. */
export async function trailPage(
  db: Db,
  entityId: string | undefined,
  after: TrailPlace,
  limit: number,
): Promise<TrailItem[]> {
  const behind =
    entityId === undefined
      ? sql`(l.entity_id, l.position) > (${after.entityId}::uuid, ${after.position}::int8)`
      : sql`l.entity_id = ${entityId} and l.position > ${after.entityId === entityId ? after.position : 0}::int8`
  const rows =
    await db.all<TrailRow>(sql`select l.entity_id, l.position, l.audit_id, encode(l.previous, 'hex') as previous,
      encode(l.entry_hash, 'hex') as entry_hash, encode(l.hash, 'hex') as hash, ${entryColumns}, h.first_position,
      encode(h.hash, 'hex') as head_hash, encode(h.signature, 'hex') as signature, ${headDate} as head_date
    from (select * from audit_links l where ${behind} order by l.entity_id, l.position limit ${limit}) l
    left join audit_entries r on r.entity_id = l.entity_id and r.id = l.audit_id
    left join audit_heads h on h.entity_id = l.entity_id and h.position = l.position
    order by l.entity_id, l.position`)
  return rows.map(itemOf)
}

function itemOf(row: TrailRow): TrailItem {
  const {
    position,
    auditId,
    previous,
    entryHash,
    hash,
    firstPosition,
    headHash,
    signature,
    headDate,
    ...rest
  } = row
  const { entityId } = rest
  return {
    link: { entityId, position, auditId, previous, entryHash, hash },
    entry: { ...rest, id: auditId },
    head:
      firstPosition === null
        ? null
        : { entityId, firstPosition, position, hash: headHash, signature, createDate: headDate },
  }
}

const named = (entityId: string | undefined) =>
  sql`(${entityId ?? null}::uuid is null or r.entity_id = ${entityId ?? null})`

export type StrayEntry = { entityId: string; id: string }

/** Entries that are in no link and not in the queue: nothing that the program does leaves such. */
const strayEntriesOf = (entries: Sql, entityId: Sql) => sql`select r.entity_id, r.id from ${entries} r
  where not exists (select 1 from audit_links l where l.entity_id = ${entityId} and l.audit_id = r.id)
    and not exists (select 1 from unlinked_audit q where q.entity_id = ${entityId} and q.id = r.id)`

export const strayEntries = (db: Db, entityId: string | undefined, limit: number) =>
  scan<StrayEntry>(
    db,
    sql`${strayEntriesOf(sql`(select entity_id, id from audit_acts r where ${named(entityId)})`, sql`r.entity_id`)}
      limit ${limit}`,
  )

/** Heads of positions that have no link. */
const strayHeadsOf = (heads: Sql, entityId: Sql) => sql`select r.entity_id, r.position from ${heads} r
  where not exists (select 1 from audit_links l where l.entity_id = ${entityId} and l.position = r.position)`

export const strayHeads = (db: Db, entityId: string | undefined, limit: number) =>
  scan<TrailPlace>(
    db,
    sql`${strayHeadsOf(sql`(select entity_id, position from audit_heads r where ${named(entityId)})`, sql`r.entity_id`)}
      order by entity_id, position limit ${limit}`,
  )

/** The stray heads behind a position, up to another or to the end. */
export const strayHeadsIn = (db: Db, { entityId, position }: TrailPlace, to: number | undefined) =>
  db.all<TrailPlace>(
    strayHeadsOf(
      sql`(select entity_id, position from audit_heads where entity_id = ${entityId}
      and position > ${position} ${to === undefined ? sql`` : sql`and position <= ${to}`} order by position offset 0)`,
      sql`${entityId}`,
    ),
  )

/** The next entries of an entity by their ids: the last of them where more follow, and those that are stray. */
export async function strayEntriesPage(
  db: Db,
  entityId: string,
  after: string | undefined,
  limit: number,
): Promise<{ last: string | undefined; strays: StrayEntry[] }> {
  const behind = sql`entity_id = ${entityId} ${after === undefined ? sql`` : sql`and id > ${after}`}`
  const last = await db.maybe<{ id: string }>(
    sql`select id from audit_acts where ${behind} order by id offset ${limit - 1} limit 1`,
  )
  const entries = sql`(select entity_id, id from audit_acts where ${behind} order by id limit ${limit})`
  return { last: last?.id, strays: await db.all<StrayEntry>(strayEntriesOf(entries, sql`${entityId}`)) }
}

/** The newest link up to a position, with the last position up to there that a head covers. */
export const linkUpTo = (db: Db, { entityId, position }: TrailPlace) =>
  db.maybe<
    AuditLink & { covered: number }
  >(sql`select l.entity_id, l.position, l.audit_id, encode(l.previous, 'hex') as previous,
      encode(l.entry_hash, 'hex') as entry_hash, encode(l.hash, 'hex') as hash,
      coalesce((select h.position from audit_heads h where h.entity_id = ${entityId} and h.position <= l.position
          and exists (select 1 from audit_links k where k.entity_id = ${entityId} and k.position = h.position)
        order by h.position desc limit 1), 0) as covered
    from audit_links l where l.entity_id = ${entityId} and l.position <= ${position} order by l.position desc limit 1`)

/** Keeps others from verifying the trail of an entity until the `tx` ends. False when one does. */
export const lockVerification = async (tx: Db, entityId: string): Promise<boolean> =>
  (
    await tx.one<{ got: boolean }>(
      sql`select pg_try_advisory_xact_lock(hashtextextended(${`audit verification of ${entityId}`}, 0)) as got`,
    )
  ).got

/** Entries that wait for a link. */
export const countUnlinked = async (db: Db, entityId: string | undefined): Promise<number> =>
  (
    await db.one<{ count: number }>(
      sql`select count(*) as count from unlinked_audit r where ${named(entityId)}`,
    )
  ).count

/** The newest head of each entity behind `after`, leaping from entity to entity. */
export async function newestHeads(
  db: Db,
  entityId: string | undefined,
  after: string | undefined,
  limit: number,
): Promise<SignedHead[]> {
  const heads: SignedHead[] = []
  for (let last = after; heads.length < limit; last = heads.at(-1)!.entityId) {
    const next = await db.maybe<{ entityId: string }>(sql`select h.entity_id from audit_heads h
      where (${last ?? null}::uuid is null or h.entity_id > ${last ?? null})
        and (${entityId ?? null}::uuid is null or h.entity_id = ${entityId ?? null}) order by h.entity_id limit 1`)
    if (!next) break
    heads.push(
      await db.one<SignedHead>(sql`select h.entity_id, h.first_position, h.position, encode(h.hash, 'hex') as hash,
          encode(h.signature, 'hex') as signature, ${headDate} as create_date
        from audit_heads h where h.entity_id = ${next.entityId} order by h.position desc limit 1`),
    )
  }
  return heads
}
