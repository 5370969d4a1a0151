import { type Db, sql } from '#runtime/db/db'
import { type Turn, takeInTurns } from '#runtime/turns/store'
import type { AuditEntry, AuditHead, LinkContent } from '../encoding.ts'

/** The channel that tells of further links. */
export const linksChannel = 'audit_links'

export type AuditLink = LinkContent & { hash: string }
export type SignedHead = AuditHead & { signature: string }

export const entryColumns = sql`r.actor, r.action, r.resource_id, r.request_id, r.create_date, r.event_type,
  r.event_resource_id, r.data, r.event_date`

/** Keeps other workers from linking until the `tx` ends. False when one does. */
export const lockLinking = async (tx: Db): Promise<boolean> =>
  (
    await tx.one<{ got: boolean }>(
      sql`select pg_try_advisory_xact_lock(hashtextextended('audit links', 0)) as got`,
    )
  ).got

export const isAnyUnlinked = async (db: Db): Promise<boolean> =>
  (await db.one<{ any: boolean }>(sql`select exists (select 1 from unlinked_audit) as any`)).any

/** An entry that is not linked yet, with the last link of its entity; null without one. */
export type UnlinkedEntry = AuditEntry & { lastPosition: number | null; lastHash: string | null }

/** Unlinked entries, round-robin over entities, those of each entity in the order in which they were queued. */
export function unlinkedEntries(db: Db, turn: Turn, limit: number): Promise<readonly UnlinkedEntry[]> {
  const take = (entityId: string, count: number) =>
    db.all<UnlinkedEntry>(sql`select q.entity_id, q.id, ${entryColumns}, l.position as last_position,
        encode(l.hash, 'hex') as last_hash
      from (select entity_id, id, sequence from unlinked_audit where entity_id = ${entityId} order by sequence limit ${count}) q
      left join lateral (select * from audit_entries r where r.entity_id = ${entityId} and r.id = q.id limit 1) r on true
      left join (select position, hash from audit_links where entity_id = ${entityId} order by position desc limit 1) l on true
      order by q.sequence`)
  return takeInTurns(db, turn, { from: sql`unlinked_audit`, where: sql`true`, take }, limit)
}

export async function insertLinks(
  tx: Db,
  links: readonly AuditLink[],
  heads: readonly SignedHead[],
): Promise<void> {
  await tx.run(sql`insert into audit_links (entity_id, position, audit_id, previous, entry_hash, hash)
    select e, p, a, decode(b, 'hex'), decode(c, 'hex'), decode(h, 'hex')
    from unnest(${links.map(({ entityId }) => entityId)}::uuid[], ${links.map(({ position }) => position)}::int8[],
      ${links.map(({ auditId }) => auditId)}::uuid[], ${links.map(({ previous }) => previous)}::text[],
      ${links.map(({ entryHash }) => entryHash)}::text[], ${links.map(({ hash }) => hash)}::text[]) n(e, p, a, b, c, h)`)
  await tx.run(sql`insert into audit_heads (entity_id, first_position, position, hash, signature, create_date)
    select e, f, p, decode(h, 'hex'), decode(s, 'hex'), d
    from unnest(${heads.map(({ entityId }) => entityId)}::uuid[],
      ${heads.map(({ firstPosition }) => firstPosition)}::int8[], ${heads.map(({ position }) => position)}::int8[],
      ${heads.map(({ hash }) => hash)}::text[], ${heads.map(({ signature }) => signature)}::text[],
      ${heads.map(({ createDate }) => createDate)}::timestamptz[]) n(e, f, p, h, s, d)`)
  await tx.run(sql`delete from unlinked_audit q
    using unnest(${links.map(({ entityId }) => entityId)}::uuid[], ${links.map(({ auditId }) => auditId)}::uuid[]) n(e, a)
    where q.entity_id = n.e and q.id = n.a`)
  await tx.run(sql`select pg_notify(${linksChannel}, '')`)
}
