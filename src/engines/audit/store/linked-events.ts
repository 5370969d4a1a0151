import { type Db, sql } from '#runtime/db/db'

/** An event with its position in the audit trail of its entity. */
export type LinkedEvent = {
  position: number
  id: string
  type: string
  resourceId: string
  actor: string
  requestId: string | null
  createDate: string
  recordedAt: string
}

/** The events behind a position, in the order of the trail. */
export const linkedEvents = (db: Db, entityId: string, position: number, limit: number) =>
  db.all<LinkedEvent>(sql`select l.position, r.id, r.event_type as type, r.resource_id, r.actor, r.request_id, r.create_date,
      r.recorded_at
    from (select position, audit_id from audit_links where entity_id = ${entityId} and position > ${position}
      order by position limit ${limit}) l
    join audit_entries r on r.entity_id = ${entityId} and r.id = l.audit_id order by l.position`)

/** The position of the newest link of an entity; 0 for none. */
export const lastPosition = async (db: Db, entityId: string): Promise<number> =>
  (
    await db.maybe<{ position: number }>(sql`select position from audit_links where entity_id = ${entityId}
      order by position desc limit 1`)
  )?.position ?? 0

/** The position of an event; undefined when it has no link, or is of another entity. */
export const positionOf = async (db: Db, entityId: string, id: string): Promise<number | undefined> =>
  (
    await db.maybe<{ position: number }>(
      sql`select position from audit_links where entity_id = ${entityId} and audit_id = ${id}`,
    )
  )?.position

/** Whether an event is recorded, with a link or without one yet. */
export const isInTrail = async (db: Db, entityId: string, id: string): Promise<boolean> =>
  (
    await db.one<{ yes: boolean }>(
      sql`select exists (select 1 from audit_entries where entity_id = ${entityId} and id = ${id}) as yes`,
    )
  ).yes
