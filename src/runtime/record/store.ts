import { newId } from '#lib/ids'
import { readMergedPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, type Sql, sql } from '#runtime/db/db'

/** The owner of changes that belong to no tenant: screening lists, keys and settings of the installation. */
export const installationId = '00000000-0000-0000-0000-000000000000'

export type Change = {
  entityId: string
  /** The actor: `key:<id>` or `member:<id>` for a request, the engine's name otherwise. */
  actor: string
  /** The event type as `<resource>.<past tense>`, for example `transaction.initiated`. */
  type: string
  resourceId: string
  /** The data that a reader of the event needs; never a secret. */
  data?: Record<string, unknown>
  requestId?: string | undefined
}

/**
 * Appends the event and the audit entry of each change, in the `tx` that makes the change.
 * Both tables are append-only; `events` is the outbox for webhooks.
 */
export async function recordChanges(tx: Db, atMs: number, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return
  const at = new Date(atMs).toISOString()
  const ids = changes.map(() => newId(atMs))
  const entities = changes.map((change) => change.entityId)
  const types = changes.map((change) => change.type)
  const resources = changes.map((change) => change.resourceId)
  const actors = changes.map((change) => change.actor)
  const requests = changes.map((change) => change.requestId ?? null)
  const data = changes.map((change) => JSON.stringify(change.data ?? {}))
  const given = sql`with changes as (
      select * from unnest(${entities}::uuid[], ${ids}::uuid[], ${types}::text[], ${resources}::text[], ${data}::text[],
        ${actors}::text[], ${requests}::text[]) as row(e, i, t, r, d, a, q)
    )`
  const noted = (owner: Sql) => sql`insert into events (entity_id, id, type, resource_id, data, create_date)
    select ${owner}, i, t, r, d::jsonb, ${at}::timestamptz from changes`
  const traced = (
    owner: Sql,
  ) => sql`insert into audit (entity_id, id, actor, action, resource_id, request_id, create_date)
    select ${owner}, i, a, t, r, q, ${at}::timestamptz from changes`
  // A trigger tells of events that are queued, but not on the nodes of a distributed server, whose shards send no notices.
  const told = sql`select pg_notify('queued_events', '') where current_setting('citus.enable_unsafe_triggers', true) = 'on'`
  if (entities.every((each) => each === entities[0])) {
    const owner = sql`${entities[0]}::uuid`
    await tx.run(sql`${given}, noted as (${noted(owner)}), traced as (${traced(owner)}) ${told}`)
  } else for (const insert of [noted, traced]) await tx.run(sql`${given} ${insert(sql`e`)}`)
}

/** Returns the actor and date of changes of these types to one resource, or to any, newest first. */
export const changesOf = <Type extends string>(
  db: Db,
  entityId: string,
  types: readonly Type[],
  resourceId: string | undefined,
  limit: number,
) =>
  db.all<{ type: Type; subjectId: string; actor: string; createDate: string }>(sql`select action as type,
      resource_id as subject_id, actor, create_date
    from audit where entity_id = ${entityId} and action = any(${types}::text[])
      and (${resourceId ?? null}::text is null or resource_id = ${resourceId ?? null})
    order by create_date desc, id desc limit ${limit}`)

/** An event as its readers see it. `recordedAt` is real time, `createDate` is business time. */
export type RecordedEvent = {
  id: string
  type: string
  data: Record<string, unknown>
  createDate: string
  recordedAt: string
}

/** An event with the request that made it, if one did. */
export type AskedEvent = RecordedEvent & { requestId: string | null }

/** The first events of a resource, oldest first. */
export const eventsOf = (db: Db, entityId: string, resourceId: string, limit: number) =>
  db.all<AskedEvent>(sql`select e.id, e.type, e.data, e.create_date, coalesce(e.recorded_at, e.create_date) as recorded_at,
      (select a.request_id from audit a where a.entity_id = e.entity_id and a.id = e.id) as request_id
    from events e where e.entity_id = ${entityId} and e.resource_id = ${resourceId} order by e.id limit ${limit}`)

/** An event with its act: who did it, and for which request. */
type TracedEvent = RecordedEvent & { resourceId: string; actor: string; requestId: string | null }

type EventFilters = { type?: string | undefined; resourceId?: string | undefined }

const tracedColumns = sql`e.id, e.type, e.resource_id, a.actor, a.request_id, e.data, e.create_date,
  coalesce(e.recorded_at, e.create_date) as recorded_at`

/** The act of each event is looked up: a merge of both tables would read all acts from the newest to the page. */
const tracedEvents = sql`events e cross join lateral (select actor, request_id from audit
  where entity_id = e.entity_id and id = e.id offset 0) a`

/** The events of an entity, newest first. A type that ends with `.*` names all types of its resource. */
export async function eventsPage(
  db: Db,
  entityId: string,
  { type, resourceId }: EventFilters,
  page: PageQuery,
) {
  const found = type?.endsWith('.*') ? await typesWith(db, entityId, type.slice(0, -1)) : [type]
  // Of a kind without events, no event is of the type that was asked for.
  const types = found.length > 0 ? found : [type]
  const sources = types.map((each) => ({
    columns: tracedColumns,
    from: tracedEvents,
    alias: 'e',
    scope: sql`e.entity_id = ${entityId}`,
    hasDatedIds: true,
    filters: [
      each === undefined ? undefined : sql`e.type = ${each}`,
      resourceId === undefined ? undefined : sql`e.resource_id = ${resourceId}`,
    ],
  }))
  return readMergedPage<TracedEvent>(db, sources, page)
}

/** The types of events that an entity has under a prefix, each found by one look into the index. */
async function typesWith(db: Db, entityId: string, prefix: string): Promise<string[]> {
  const end = `${prefix.slice(0, -1)}/`
  const rows = await db.all<{ type: string }>(sql`with recursive types as (
      (select type from events where entity_id = ${entityId} and type > ${prefix} and type < ${end} order by type limit 1)
      union all
      select (select e.type from events e where e.entity_id = ${entityId} and e.type > t.type and e.type < ${end}
        order by e.type limit 1)
      from types t where t.type is not null
    )
    select type from types where type is not null`)
  return rows.map((row) => row.type)
}
