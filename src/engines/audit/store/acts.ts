import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, sql } from '#runtime/db/db'

/** An entry of the trail as its readers list it. */
export type AuditAct = {
  id: string
  /** The position and the hash of its link; null for about a second. */
  position: number | null
  hash: string | null
  actor: string
  action: string
  resourceId: string
  requestId: string | null
  createDate: string
}

type ActFilters = { actor?: string | undefined; action?: string | undefined; resourceId?: string | undefined }

/** The entries of the trail of an entity, newest first. */
export const actsPage = (
  db: Db,
  entityId: string,
  { actor, action, resourceId }: ActFilters,
  page: PageQuery,
) =>
  readPage<AuditAct>(
    db,
    {
      columns: sql`a.id, l.position, encode(l.hash, 'hex') as hash, a.actor, a.action, a.resource_id, a.request_id,
        a.create_date`,
      from: sql`audit_acts a left join lateral (select position, hash from audit_links
        where entity_id = a.entity_id and audit_id = a.id offset 0) l on true`,
      alias: 'a',
      scope: sql`a.entity_id = ${entityId}`,
      hasDatedIds: true,
      filters: [
        actor === undefined ? undefined : sql`a.actor = ${actor}`,
        // Found by the indexes of the events.
        action === undefined ? undefined : sql`a.event_type = ${action}`,
        resourceId === undefined ? undefined : sql`a.event_resource_id = ${resourceId}`,
      ],
    },
    page,
  )
