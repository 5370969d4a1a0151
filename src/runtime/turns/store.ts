/**
 * Queues that entities share. A claim takes the first row of every entity, then the second of each, and so on, beginning
 * after the entity that was served last. A blocked item is deferred for a tenth of the time that it has waited, so that
 * neither a busy entity nor one with many blocked items delays another.
 */
import { type Db, join, type Sql, sql } from '#runtime/db/db'
import { deleteOldest } from '#runtime/delete-oldest'
import type { Queue } from './queues.ts'

/** The position of a worker in a queue: the entity it served last. Each worker has its own. */
export type Turn = { readonly queue: Queue; after: string }

const noEntity = '00000000-0000-0000-0000-000000000000'

/** Rows that a worker looks at to lock one: more than the number of workers, since each skips what others have locked. */
export const lookedAtMax = 50

export const newTurn = (queue: Queue): Turn => ({ queue, after: noEntity })

type Shared = {
  /** The table and the condition under which its rows are in the queue: those of an index on the entity. */
  from: Sql
  where: Sql
  /** The claimable rows of the entity `turn.entity_id`, in order. */
  rows: Sql
}

/**
 * Selects at most `limit` rows of a queue by `position`. Skips from entity to entity, regardless of each one's backlog, and no
 * further than to `limit` entities with claimable rows: PostgreSQL evaluates `turn` as far as `ready` reads it.
 */
export const inTurns = ({ after }: Turn, { from, where, rows }: Shared, limit: number): Sql => {
  const next = (condition: Sql, isLate: Sql) =>
    sql`(select entity_id, ${isLate} from ${from} where ${where} and ${condition} order by entity_id limit 1)`
  const early = next(sql`entity_id > ${after}`, sql`false`)
  const late = next(sql`entity_id <= ${after}`, sql`true`)
  return sql`with recursive turn (entity_id, is_late, place) as (
      select begin.*, 1 from (${early} union all ${late} limit 1) begin
      union all
      select next.*, turn.place + 1 from turn cross join lateral (
        ${next(sql`entity_id > turn.entity_id and (entity_id <= ${after} or not turn.is_late)`, sql`turn.is_late`)}
        union all
        ${next(sql`entity_id <= ${after} and not turn.is_late`, sql`true`)}
        limit 1) next
    ),
    ready as materialized (
      select turn.entity_id, turn.place from turn cross join lateral (${rows} limit 1) r limit ${limit}
    )
    select r.*, row_number() over (order by r.round, turn.place) as position
    from ready turn cross join lateral (select w.*, row_number() over () as round from (
      ${rows} limit (select case when count(*) < ${limit}::integer then ${limit}::integer else 1 end from ready)) w) r
    order by position limit ${limit}`
}

/** A queue as a loop takes rows from it. */
type TakenInTurns<Row> = {
  /** The table and the condition under which rows of any entity can be taken now, in an order that an index on the entity gives. */
  from: Sql
  where: Sql
  /** Takes at most `limit` rows of one entity, in the order of the queue: one statement, or one `tx`, of this entity alone. */
  take(entityId: string, limit: number): Promise<readonly Row[]>
}

/**
 * Takes at most `limit` rows of a queue: the first of every entity, then the second of each. Statements that take rows name one
 * entity, since those of several entities may be on different servers; the one that finds entities locks nothing.
 */
export async function takeInTurns<Row>(
  db: Db,
  turn: Turn,
  queue: TakenInTurns<Row>,
  limit: number,
): Promise<Row[]> {
  const entities = await waitingEntities(db, turn.after, queue, Math.max(limit, lookedAtMax))
  const taken: (readonly Row[])[] = []
  let left = limit
  for (const [index, entityId] of entities.entries()) {
    const rows = await queue.take(entityId, Math.ceil(left / (entities.length - index)))
    if (rows.length === 0) continue
    taken.push(rows)
    turn.after = entityId
    left -= rows.length
    if (left <= 0) break
  }
  const rounds = Math.max(0, ...taken.map((rows) => rows.length))
  return Array.from({ length: rounds }, (_, round) =>
    taken.flatMap((rows) => rows.slice(round, round + 1)),
  ).flat()
}

const lastEntity = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
/** Rows that are read to find entities: small backlogs take one statement together, and a large one takes one of its own. */
const rowsOfLook = 100

/** The entities with rows to take, at most `max`, beginning with those after `after`. */
async function waitingEntities<Row>(
  db: Db,
  after: string,
  { from, where }: TakenInTurns<Row>,
  max: number,
): Promise<string[]> {
  const ranges = [
    { from: after, to: lastEntity, found: [] as string[] },
    { from: noEntity, to: after, found: [] as string[] },
  ]
  for (;;) {
    const open = ranges.filter((range) => range.from < range.to)
    if (open.length === 0 || ranges.reduce((sum, { found }) => sum + found.length, 0) >= max) break
    const looks = open.map(
      (range) => sql`select ${ranges.indexOf(range)}::integer as range, entity_id, count(*) as count from (
        select entity_id from ${from} where ${where} and entity_id > ${range.from} and entity_id <= ${range.to}
        order by entity_id limit ${rowsOfLook}) looked group by entity_id`,
    )
    const rows = await db.all<{ range: number; entityId: string; count: number }>(
      sql`${join(looks, ' union all ')} order by range, entity_id`,
    )
    for (const range of open) {
      const own = rows.filter((row) => ranges[row.range] === range)
      range.found.push(...own.map(({ entityId }) => entityId))
      const isWhole = own.reduce((sum, { count }) => sum + count, 0) < rowsOfLook
      range.from = isWhole ? range.to : own.at(-1)!.entityId
    }
  }
  return ranges.flatMap(({ found }) => found).slice(0, max)
}

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
  const key = sql`queue, blockchain, key`
  const isOld = sql`next_attempt_at < now() - interval '1 day'`
  await deleteOldest(db, { from: sql`deferrals`, key, isOld, date: sql`next_attempt_at` }, 100)
}

/** SQL condition: the item `key` of the queue is not deferred. */
export const isNotDeferred = (queue: Queue, blockchain: string, entityId: Sql, key: Sql): Sql =>
  sql`coalesce(${deferredUntil(queue, blockchain, entityId, key, sql`''`)} <= now(), true)`

/** SQL for the time until which an item is or was deferred in the state `seen`; null if it never was. */
export const deferredUntil = (queue: Queue, blockchain: string, entityId: Sql, key: Sql, seen: Sql): Sql =>
  sql`(select deferrals.next_attempt_at from deferrals where deferrals.entity_id = ${entityId} and deferrals.queue = ${queue}
    and deferrals.blockchain = ${blockchain} and deferrals.key = ${key} and deferrals.seen = ${seen})`
