/**
 * Queues that entities share. A claim takes the first row of every entity, then the second of each, and so on, beginning
 * after the entity that was served last. A blocked item is deferred for a tenth of the time that it has waited, so that
 * neither a busy entity nor one with many blocked items delays another.
 */
import { type Db, type Sql, sql } from '#runtime/db/db'
import type { Queue } from './queues.ts'

/** The position of a worker in a queue: the entity it served last. Each worker has its own. */
export type Turn = { readonly queue: Queue; after: string }

const noEntity = '00000000-0000-0000-0000-000000000000'

export const newTurn = (queue: Queue): Turn => ({ queue, after: noEntity })

export type Shared = {
  /** The table and the condition under which its rows are in the queue: those of an index on the entity. */
  from: Sql
  where: Sql
  /** The claimable rows of the entity `turn.entity_id`, in order. */
  rows: Sql
}

/** Selects at most `limit` rows of a queue by `position`. Skips from entity to entity, regardless of each one's backlog. */
export const inTurns = ({ after }: Turn, { from, where, rows }: Shared, limit: number): Sql =>
  sql`with recursive turn as (
      (select entity_id from ${from} where ${where} order by entity_id limit 1)
      union all
      select (select entity_id from ${from} where ${where} and entity_id > turn.entity_id order by entity_id limit 1)
      from turn where turn.entity_id is not null
    )
    select r.*, row_number() over (order by r.place, turn.entity_id <= ${after}, turn.entity_id) as position
    from turn cross join lateral (select w.*, row_number() over () as place from (${rows} limit ${limit}) w) r
    where turn.entity_id is not null order by position limit ${limit}`

/** Records the entity served last, so that the next claim begins with the others. Returns the rows. */
export function served<Row extends { entityId: string }>(turn: Turn, rows: readonly Row[]): readonly Row[] {
  const isLate = (entityId: string) => entityId <= turn.after
  let last: string | undefined
  for (const { entityId } of rows)
    if (
      last === undefined ||
      isLate(entityId) > isLate(last) ||
      (isLate(entityId) === isLate(last) && entityId > last)
    )
      last = entityId
  turn.after = last ?? turn.after
  return rows
}

/** Returns the deferral of a blocked item: a tenth of the time that it has waited, from 0.5 to 30 s. */
export const deferralMsOf = (waitedMs: number): number => Math.min(30_000, Math.max(500, waitedMs / 10))

export type Deferral = {
  entityId: string
  /** The name of the item in its queue: an id, or an address. */
  key: string
  waitedMs: number
  /** The item's state when it was deferred; a different state ends the deferral. */
  seen?: string
}

/** Defers these items. `blockchain` is empty where the queue has none. */
export async function defer(
  db: Db,
  queue: Queue,
  blockchain: string,
  items: readonly Deferral[],
): Promise<void> {
  if (items.length === 0) return
  await db.run(sql`insert into deferrals (entity_id, queue, blockchain, key, seen, next_attempt_at)
    select distinct on (e, k) e, ${queue}, ${blockchain}, k, s, now() + m * interval '1 millisecond'
    from unnest(${items.map(({ entityId }) => entityId)}::uuid[], ${items.map(({ key }) => key)}::text[],
      ${items.map(({ seen }) => seen ?? '')}::text[],
      ${items.map(({ waitedMs }) => Math.round(deferralMsOf(waitedMs)))}::int8[]) as n(e, k, s, m) order by e, k
    on conflict (entity_id, queue, blockchain, key) do update
    set next_attempt_at = excluded.next_attempt_at, seen = excluded.seen`)
  await db.run(sql`with over as materialized (
      select entity_id, queue, blockchain, key from deferrals where next_attempt_at < now() - interval '1 day'
      order by next_attempt_at limit 100 for update skip locked
    )
    delete from deferrals where (entity_id, queue, blockchain, key) in (select * from over)`)
}

/** SQL condition: the item `key` of the queue is not deferred. */
export const isNotDeferred = (queue: Queue, blockchain: string, entityId: Sql, key: Sql): Sql =>
  sql`coalesce(${deferredUntil(queue, blockchain, entityId, key, sql`''`)} <= now(), true)`

/** SQL for the time until which an item is or was deferred in the state `seen`; null if it never was. */
export const deferredUntil = (queue: Queue, blockchain: string, entityId: Sql, key: Sql, seen: Sql): Sql =>
  sql`(select deferrals.next_attempt_at from deferrals where deferrals.entity_id = ${entityId} and deferrals.queue = ${queue}
    and deferrals.blockchain = ${blockchain} and deferrals.key = ${key} and deferrals.seen = ${seen})`
