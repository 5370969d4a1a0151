import { type Db, sql } from '#runtime/db/db'

/** Days as texts such as 2026-11-30, in UTC. */
type ClosedDays = { closedThrough: string; finalThrough: string }

export const closedDays = (db: Db) =>
  db.maybe<ClosedDays>(
    sql`select closed_through::text as closed_through, final_through::text as final_through from closed_days`,
  )

/** Closes the days up to this one; a day that is closed stays so. */
export const closeThrough = (db: Db, day: string) =>
  db.run(sql`insert into closed_days as d (closed_through, final_through) values (${day}::date, ${day}::date - 1)
    on conflict (is_only) do update set closed_through = excluded.closed_through
    where d.closed_through < excluded.closed_through`)

/**
 * The transactions that write postings, as the server names them in its locks: each has one on the table from before it looks which days
 * are closed until it has ended. The coordinator of a distributed server has these locks, and numbers no transactions of its nodes.
 */
export const writersOfPostings = async (db: Db): Promise<string[]> =>
  (
    await db.one<{ writers: string[] }>(sql`select array(select distinct virtualtransaction from pg_locks
      where locktype = 'relation' and relation = 'postings'::regclass and mode = 'RowExclusiveLock' and granted
        and database = (select oid from pg_database where datname = current_database())) as writers`)
  ).writers

export const finishThrough = (db: Db, day: string) =>
  db.run(sql`update closed_days set final_through = ${day}::date
    where final_through < ${day}::date and closed_through >= ${day}::date`)
