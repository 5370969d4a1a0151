import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'

/** A journal as the database knows it. */
export type KnownJournal = {
  id: string
  host: string
  path: string
  sequence: number
  headHash: Buffer
  state: 'open' | 'lost'
  mergedEpoch: number
  updateDate: string
}

/** Which database this is, and which it was when its journals were merged last. */
export type Standing = {
  installation: string
  epoch: number
  /** Null until the first worker starts. */
  incarnation: string | null
  live: string
  /** How far the database has written its log; it never goes back but by restoring an older copy. */
  logPosition: bigint
}

/**
 * The server, its timeline, the database and one of its tables. A dump that is restored has other ones of the last two, a
 * server that went back to a point in time or took over from another one has a new timeline.
 */
const live = sql`(select system_identifier from pg_control_system()) || '/'
  || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/'
  || (select oid from pg_database where datname = current_database()) || '/' || 'journal_epochs'::regclass::oid`

export const readStanding = (db: Db) =>
  db.one<Standing>(sql`select installation, epoch, incarnation, ${live} as live,
    (pg_current_wal_flush_lsn() - '0/0')::numeric as "logPosition" from journal_epochs`)

const lock = sql`hashtextextended('journals', 0)`

/** Waits until nobody signs, and keeps it so until the `tx` ends. */
export const stopSigning = (tx: Db) => tx.run(sql`select pg_advisory_xact_lock(${lock})`)

/** What whoever signs takes first; it is not to be had while a journal is being merged. */
export const signingLock = sql`pg_try_advisory_xact_lock_shared(${lock})`

/** Whether everything that was ever sent is in this database, so that nonces may be given out. */
export const isMerged = async (tx: Db): Promise<boolean> =>
  (
    await tx.one<{ yes: boolean }>(sql`select coalesce(e.incarnation = ${live}, false) and not exists (
      select 1 from journals j where j.state = 'open' and j.merged_epoch < e.epoch) as yes from journal_epochs e`)
  ).yes

const columns = sql`id, host, path, sequence, head_hash as "headHash", state, merged_epoch as "mergedEpoch",
  update_date as "updateDate"`

export const findJournal = (db: Db, id: string) =>
  db.maybe<KnownJournal>(sql`select ${columns} from journals where id = ${id}`)

export const listJournals = (db: Db) =>
  db.all<KnownJournal & { awaited: boolean }>(sql`select ${columns}, state = 'open'
      and merged_epoch < (select epoch from journal_epochs) as awaited
    from journals order by create_date, id`)

/** The journals without which nothing may be signed. */
export const awaitedJournals = (db: Db) =>
  db.all<KnownJournal>(sql`select ${columns} from journals
    where state = 'open' and merged_epoch < (select epoch from journal_epochs) order by id`)

export const enterEpoch = (tx: Db, epoch: number, incarnation: string) =>
  tx.run(sql`update journal_epochs set epoch = ${epoch}, incarnation = ${incarnation}`)

export const registerJournal = (tx: Db, nowMs: number, row: Omit<KnownJournal, 'state' | 'updateDate'>) =>
  tx.run(sql`insert into journals (id, host, path, sequence, head_hash, state, merged_epoch, create_date, update_date)
    values (${row.id}, ${row.host}, ${row.path}, ${row.sequence}, ${row.headHash}, 'open', ${row.mergedEpoch},
      ${formatInstant(nowMs)}, ${formatInstant(nowMs)})
    on conflict (id) do update set host = excluded.host, path = excluded.path, sequence = excluded.sequence,
      head_hash = excluded.head_hash, state = 'open', merged_epoch = excluded.merged_epoch,
      update_date = excluded.update_date`)

type Place = Pick<KnownJournal, 'id' | 'sequence' | 'headHash'>

/** Tells that everything up to here is in the database. */
export const moveHead = (db: Db, nowMs: number, { id, sequence, headHash }: Place) =>
  db.run(sql`update journals set sequence = ${sequence}, head_hash = ${headHash}, update_date = ${formatInstant(nowMs)}
    where id = ${id} and sequence < ${sequence} and state = 'open'`)

/** False when there is no such journal that is not lost already. */
export const loseJournal = async (tx: Db, nowMs: number, id: string): Promise<boolean> =>
  (await tx.run(sql`update journals set state = 'lost', update_date = ${formatInstant(nowMs)}
    where id = ${id} and state = 'open'`)) > 0
