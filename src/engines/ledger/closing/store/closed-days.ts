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

/** The number that the next transaction of the server gets. */
export const nextTransaction = async (db: Db): Promise<string> =>
  (await db.one<{ next: string }>(sql`select pg_snapshot_xmax(pg_current_snapshot())::text as next`)).next

/** Whether every transaction before this one has ended. */
export const haveEndedBefore = async (db: Db, transaction: string): Promise<boolean> =>
  (
    await db.one<{ ended: boolean }>(
      sql`select pg_snapshot_xmin(pg_current_snapshot()) >= ${transaction}::text::xid8 as ended`,
    )
  ).ended

export const finishThrough = (db: Db, day: string) =>
  db.run(sql`update closed_days set final_through = ${day}::date
    where final_through < ${day}::date and closed_through >= ${day}::date`)
