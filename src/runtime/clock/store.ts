import { type Db, type Sql, sql } from '../db/db.ts'

/** The lead of business time over the database's, or the instant at which it stands still; in milliseconds. */
export type ClockShift = { offsetMs: number; heldMs: number | null }

/** The channel that tells of a change of business time. */
export const clockChannel = 'business_clock'

const unmoved: ClockShift = { offsetMs: 0, heldMs: null }

/** Reads the time of the database, and how business time is moved from it. */
export async function readTimes(db: Db): Promise<{ databaseMs: number; shift: ClockShift }> {
  const row = await db.one<{ databaseMs: number; offsetMs: number | null; heldMs: number | null }>(
    sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as database_ms, c.offset_ms, c.held_ms
      from (values (1)) one left join business_clock c on true`,
  )
  const { databaseMs, offsetMs, heldMs } = row
  return { databaseMs, shift: offsetMs === null ? unmoved : { offsetMs, heldMs } }
}

/** Sets business time; it passes on from there, or stands still there while it is held. */
export const setTime = (tx: Db, nowMs: number) =>
  write(
    tx,
    (databaseMs) => sql`offset_ms = ${nowMs - databaseMs}::bigint,
      held_ms = case when held_ms is not null then ${nowMs}::bigint end`,
  )

/** Holds business time where it is, or at a later instant. */
export const holdTime = (tx: Db, atMs: number | undefined) =>
  write(
    tx,
    (databaseMs) =>
      sql`held_ms = greatest(${atMs ?? null}::bigint, coalesce(held_ms, ${databaseMs}::bigint + offset_ms))`,
  )

/** Lets business time pass again, from where it is held. */
export const releaseTime = (tx: Db) =>
  write(
    tx,
    (databaseMs) => sql`offset_ms = coalesce(held_ms - ${databaseMs}::bigint, offset_ms), held_ms = null`,
  )

/** The time of the database is a value of the change: the same in every copy of the row. */
async function write(tx: Db, change: (databaseMs: number) => Sql): Promise<void> {
  await tx.run(sql`insert into business_clock (offset_ms) values (0) on conflict do nothing`)
  const { databaseMs } = await tx.one<{ databaseMs: number }>(
    sql`select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as database_ms`,
  )
  await tx.run(sql`update business_clock set ${change(databaseMs)}`)
  await tx.run(sql`select pg_notify(${clockChannel}, '')`)
}
