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
 * entity, since those of several entities may be on different servers; the one that finds entities locks nothing. Entities whose rows
 * others have locked, or of which nothing can be taken, are passed over until the circle is complete.
 */
export async function takeInTurns<Row>(
  db: Db,
  turn: Turn,
  queue: TakenInTurns<Row>,
  limit: number,
): Promise<Row[]> {
  const nextEntities = searchFrom(db, turn.after, queue)
  for (;;) {
    const entities = await nextEntities(Math.max(limit, lookedAtMax))
    const taken = await takeFrom(turn, queue, entities, limit)
    if (taken.length > 0 || entities.length === 0) return taken
  }
}

async function takeFrom<Row>(
  turn: Turn,
  queue: TakenInTurns<Row>,
  entities: readonly WaitingEntity[],
  limit: number,
): Promise<Row[]> {
  const shares = sharesOf(entities, limit)
  const taken: (readonly Row[])[] = []
  let left = limit
  for (const { entityId } of entities) {
    const rows = await queue.take(entityId, Math.min(left, Math.max(1, shares.get(entityId)!)))
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

/** An entity with this many rows to take, or with more than a search counts. */
type WaitingEntity = { entityId: string; count: number }

/** Divides a claim among entities: those with few rows get them all, and the others equal parts of the rest. */
function sharesOf(entities: readonly WaitingEntity[], limit: number): Map<string, number> {
  let left = limit
  const ordered = [...entities].sort((one, other) => one.count - other.count)
  return new Map(
    ordered.map(({ entityId, count }, index) => {
      const share = Math.min(count, Math.ceil(left / (ordered.length - index)))
      left -= share
      return [entityId, share]
    }),
  )
}

/** Rows that are read to find entities: small backlogs take one statement together, and a large one takes one of its own. */
const rowsOfLook = 100

/** Returns the search for entities with rows to take: each call finds at most `max` further ones, beginning with those after `after`. */
function searchFrom<Row>(db: Db, after: string, { from, where }: TakenInTurns<Row>) {
  const found = (): WaitingEntity[] => []
  const ranges = [
    { begin: sql`entity_id > ${after}`, end: sql`true`, isWhole: false, found: found() },
    { begin: sql`true`, end: sql`entity_id <= ${after}`, isWhole: false, found: found() },
  ]
  const look = async (open: typeof ranges) => {
    const looks = open.map(
      ({ begin, end }, index) => sql`select ${index}::integer as range, entity_id, count(*) as count from (
        select entity_id from ${from} where ${where} and ${begin} and ${end}
        order by entity_id limit ${rowsOfLook}) looked group by entity_id`,
    )
    const rows = await db.all<WaitingEntity & { range: number }>(
      sql`${join(looks, ' union all ')} order by range, entity_id`,
    )
    for (const [index, range] of open.entries()) {
      const own = rows.filter((row) => row.range === index)
      const last = own.at(-1)
      const isCut = own.reduce((sum, { count }) => sum + count, 0) === rowsOfLook
      range.isWhole = !isCut || last?.entityId === after
      if (isCut && last) {
        last.count = Number.POSITIVE_INFINITY
        range.begin = sql`entity_id > ${last.entityId}`
      }
      range.found.push(...own)
    }
  }
  return async (max: number): Promise<WaitingEntity[]> => {
    for (;;) {
      const open = ranges.filter(({ isWhole }) => !isWhole)
      if (open.length === 0 || ranges.reduce((sum, { found }) => sum + found.length, 0) >= max) break
      await look(open)
    }
    let left = max
    return ranges.flatMap(({ found }) => {
      const next = found.splice(0, left)
      left -= next.length
      return next
    })
  }
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
