import { type Db, sql } from '../db.ts'

/** A place in the log of changes (WAL) of a server. Places of two timelines cannot be compared. */
export type Position = { timeline: number; lsn: bigint }

/** The place up to which the primary has flushed its log: behind the commit of all that anything has been told of so far. */
export async function currentPosition(db: Db): Promise<Position> {
  const flushed = await flushedUpTo(db)
  if (!flushed.isPageEnd) return flushed
  // Full pages are flushed alone, up to within a record that replicas replay when the next commit flushes the rest of it: this one.
  await db.run(sql`select pg_logical_emit_message(true, 'bezant', '')`)
  return flushedUpTo(db)
}

/** With `synchronous_commit = off`, commits are told of before they are flushed. */
const flushedUpTo = (db: Db): Promise<Position & { isPageEnd: boolean }> =>
  db.one<Position & { isPageEnd: boolean }>(sql`
    select ('x' || left(pg_walfile_name(at.lsn), 8))::bit(32)::int8 as timeline, at.lsn - '0/0' as lsn,
      (at.lsn - '0/0') % current_setting('wal_block_size')::int = 0 as is_page_end
    from (select case when current_setting('synchronous_commit') = 'off' then pg_current_wal_insert_lsn()
      else pg_current_wal_flush_lsn() end as lsn) at`)

/** The identifier that a primary shares with its physical copies alone. */
export const systemOf = async (db: Db): Promise<string> =>
  (await db.one<{ system: string }>(sql`select system_identifier::text as system from pg_control_system()`))
    .system

/** State of a server that may be a standby. */
export type StandbyState = {
  system: string
  /** Start of the server, which tells it from others behind the same address. */
  startedAt: string
  isStandby: boolean
  /** The place up to which it shows the changes of its timeline; absent on a primary. */
  replayedLsn: bigint | null
  /** Whether it is connected to a primary; the state and timeline of that connection are shown to users with the right alone. */
  isConnected: boolean
  connection: string | null
  timeline: number | null
}

/** The place is read before the timeline: a server that goes over to another timeline says so before it shows its changes. */
export const standbyState = (db: Db): Promise<StandbyState> =>
  db.one<StandbyState>(sql`with replayed as materialized (
      select pg_last_wal_replay_lsn() - '0/0' as lsn, pg_is_in_recovery() as is_standby)
    select s.system_identifier::text as system, ${startedAt} as started_at, r.is_standby, r.lsn as replayed_lsn,
      w.pid is not null as is_connected, w.status as connection, w.received_tli as timeline
    from replayed r left join pg_stat_wal_receiver w on true cross join pg_control_system() s`)

const startedAt = sql`pg_postmaster_start_time()::text`

/** The start of the server behind a connection. */
export const startOf = sql`select ${startedAt} as started_at`
