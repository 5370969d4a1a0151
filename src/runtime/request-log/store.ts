import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, listedWord, type Sql, sql } from '#runtime/db/db'
import {
  boolean,
  integer,
  jsonb,
  nullable,
  type RowOf,
  table,
  text,
  timestamptz,
  uuid,
} from '#runtime/db/table'

const requests = table('requests', {
  entityId: uuid,
  id: uuid,
  requestId: nullable(uuid),
  apiKeyId: nullable(uuid),
  method: text,
  route: text,
  path: text,
  status: integer,
  code: nullable(integer),
  idempotencyKey: nullable(uuid),
  resourceId: nullable(uuid),
  replayed: boolean,
  durationMs: integer,
  ip: nullable(text),
  userAgent: nullable(text),
  answeredAt: timestamptz,
  createDate: timestamptz,
})

const requestBodies = table('request_bodies', {
  entityId: uuid,
  id: uuid,
  requestHeaders: jsonb<Record<string, string>>(),
  responseHeaders: jsonb<Record<string, string>>(),
  requestBody: nullable(text),
  requestBytes: nullable(integer),
  requestSha256: nullable(text),
  responseBody: nullable(text),
  responseBytes: nullable(integer),
  responseSha256: nullable(text),
  createDate: timestamptz,
})

export type RequestRow = RowOf<typeof requests>
export type RequestBodies = RowOf<typeof requestBodies>

/**
 * Inserts a batch; rows that are there already are those of a batch whose outcome was unknown. The commit does not wait for the
 * disk: a crash of the server may cost the last rows of the log, and never a request's time.
 */
export async function insertRequests(
  tx: Db,
  rows: readonly RequestRow[],
  bodies: readonly RequestBodies[],
): Promise<void> {
  await tx.run(sql`set local synchronous_commit = off`)
  if (bodies.length > 0) await tx.run(sql`${requestBodies.insert(bodies)} on conflict do nothing`)
  await tx.run(sql`${requests.insert(rows)} on conflict do nothing`)
}

type RequestFilters = {
  method?: string | undefined
  route?: string | undefined
  /** A status such as 404, or a class such as 4xx. */
  status?: string | undefined
  apiKeyId?: string | undefined
  idempotencyKey?: string | undefined
  resourceId?: string | undefined
}

export const requestsPage = (db: Db, entityId: string, filters: RequestFilters, page: PageQuery) =>
  readPage<RequestRow>(
    db,
    {
      columns: requests.columns('r'),
      from: sql`requests r`,
      alias: 'r',
      scope: sql`r.entity_id = ${entityId}`,
      filters: conditionsOf(filters),
    },
    page,
  )

const conditionsOf = (filters: RequestFilters): (Sql | undefined)[] => {
  const { method, route, status, apiKeyId, idempotencyKey, resourceId } = filters
  return [
    method === undefined ? undefined : sql`r.method = ${method}`,
    route === undefined ? undefined : sql`r.route = ${route}`,
    status === undefined ? undefined : statusCondition(status),
    apiKeyId === undefined ? undefined : sql`r.api_key_id = ${apiKeyId}`,
    idempotencyKey === undefined ? undefined : sql`r.idempotency_key = ${idempotencyKey}`,
    resourceId === undefined ? undefined : sql`r.resource_id = ${resourceId}`,
  ]
}

const statusCondition = (status: string): Sql =>
  status.endsWith('xx') ? sql`r.status / 100 = ${listedWord(status[0]!)}` : sql`r.status = ${Number(status)}`

/** The requests that changed a resource, oldest first. */
export const requestsAbout = (db: Db, entityId: string, resourceId: string, limit: number) =>
  db.all<RequestRow>(sql`select ${requests.columns()} from requests
    where entity_id = ${entityId} and resource_id = ${resourceId} and method <> 'GET'
    order by create_date, id limit ${limit}`)

type RequestDetail = { row: RequestRow; bodies: RequestBodies | undefined }

/** A request by its id, or the newest one with this X-Request-Id. */
export async function findRequest(db: Db, entityId: string, id: string): Promise<RequestDetail | undefined> {
  const row =
    (await db.maybe<RequestRow>(
      sql`select ${requests.columns()} from requests where entity_id = ${entityId} and id = ${id}`,
    )) ??
    (await db.maybe<RequestRow>(sql`select ${requests.columns()} from requests
      where entity_id = ${entityId} and request_id = ${id} order by create_date desc, id desc limit 1`))
  if (!row) return undefined
  const bodies = await db.maybe<RequestBodies>(sql`select ${requestBodies.columns()} from request_bodies
    where entity_id = ${entityId} and id = ${row.id}`)
  return { row, bodies }
}

/** Removes requests that are older, with their bodies: the oldest first, at most `limit`. Returns their number. */
export const removeRequests = (db: Db, before: string, limit: number) =>
  db.tx(async (tx) => {
    const old = sql`with old as materialized (
      select entity_id, id from requests where duration_ms >= 0 and create_date < ${before}
      order by create_date limit ${limit}
    )`
    await tx.run(sql`${old} delete from request_bodies where (entity_id, id) in (select * from old)`)
    return tx.run(sql`${old} delete from requests where (entity_id, id) in (select * from old)`)
  })

/** Removes headers and bodies that are older. Returns their number. */
export const removeBodies = (db: Db, before: string, limit: number) =>
  db.run(sql`with old as materialized (
      select entity_id, id from request_bodies where create_date < ${before} order by create_date limit ${limit}
    )
    delete from request_bodies where (entity_id, id) in (select * from old)`)

/** The date of the newest request after these many newer ones: of the oldest that is kept. */
export const dateAfter = async (db: Db, rowsMax: number): Promise<string | undefined> =>
  (
    await db.maybe<{ createDate: string }>(sql`select create_date from requests where duration_ms >= 0
      order by create_date desc offset ${rowsMax - 1} limit 1`)
  )?.createDate
