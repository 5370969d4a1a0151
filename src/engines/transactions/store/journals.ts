import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'

/** A journal as registered in the database. */
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

/** The identity of this database, and the identity it had when its journals were merged last. */
export type DatabaseIdentity = {
  installation: string
  epoch: number
  /** Null until the first worker starts. */
  incarnation: string | null
  live: string
  /** The flushed position of the write-ahead log; it decreases only when an older copy is restored. */
  logPosition: bigint
}

/**
 * Identifies the server, its timeline, the database and one of its tables. A restored dump changes the last two;
 * point-in-time recovery or failover changes the timeline.
 */
const live = sql`(select system_identifier from pg_control_system()) || '/'
  || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/'
  || (select oid from pg_database where datname = current_database()) || '/' || 'journal_epochs'::regclass::oid`

const identityColumns = sql`installation, epoch, incarnation, ${live} as live,
  (pg_current_wal_flush_lsn() - '0/0')::numeric as log_position`

export const readDatabaseIdentity = (db: Db) =>
  db.one<DatabaseIdentity>(sql`select ${identityColumns} from journal_epochs`)

/** Where a journal is. */
export type JournalPlace = Pick<KnownJournal, 'id' | 'host' | 'path'>

/** The identity together with the journals that signing depends on, at one moment. */
export const readDatabaseState = (db: Db) =>
  db.one<DatabaseIdentity & { journals: JournalPlace[] }>(sql`select ${identityColumns}, (
      select coalesce(jsonb_agg(jsonb_build_object('id', id, 'host', host, 'path', path) order by id), '[]')
      from journals where state = 'open') as journals
    from journal_epochs`)

const lock = sql`hashtextextended('journals', 0)`

/** Waits until no worker signs, and blocks signing until the `tx` ends. */
export const stopSigning = (tx: Db) => tx.run(sql`select pg_advisory_xact_lock(${lock})`)

/** The lock that every signer takes first; it is unavailable while a journal is being merged. */
export const signingLock = sql`pg_try_advisory_xact_lock_shared(${lock})`

/** Whether every transaction ever sent is in this database, so that nonces may be assigned. */
export const isMerged = async (tx: Db): Promise<boolean> =>
  (
    await tx.one<{ yes: boolean }>(sql`select coalesce(e.incarnation = ${live}, false) and not exists (
      select 1 from journals j where j.state = 'open' and j.merged_epoch < e.epoch) as yes from journal_epochs e`)
  ).yes

/** Whether workers that once signed wait for journals; false where none ever signed, as beside an attester. */
export const journalsAreAwaited = async (db: Db): Promise<boolean> =>
  (
    await db.one<{ yes: boolean }>(sql`select coalesce(e.incarnation <> ${live}, false) or exists (
      select 1 from journals j where j.state = 'open' and j.merged_epoch < e.epoch) as yes from journal_epochs e`)
  ).yes

const columns = sql`id, host, path, sequence, head_hash, state, merged_epoch, update_date`

export const findJournal = (db: Db, id: string) =>
  db.maybe<KnownJournal>(sql`select ${columns} from journals where id = ${id}`)

export const listJournals = (db: Db) =>
  db.all<KnownJournal & { awaited: boolean }>(sql`select ${columns}, state = 'open'
      and merged_epoch < (select epoch from journal_epochs) as awaited
    from journals order by create_date, id`)

/** The unmerged journals, which block signing. */
export const awaitedJournals = (db: Db) =>
  db.all<KnownJournal>(sql`select ${columns} from journals
    where state = 'open' and merged_epoch < (select epoch from journal_epochs) order by id`)

export const enterEpoch = (tx: Db, epoch: number, incarnation: string) =>
  tx.run(sql`update journal_epochs set epoch = ${epoch}, incarnation = ${incarnation}`)

/**
 * Takes a copy of the database, which comes with the journals of the same moment, for the database that they were merged in: nothing
 * was sent that it does not know.
 */
export const adoptCopy = (db: Db) =>
  db.run(sql`update journal_epochs set incarnation = ${live} where incarnation is not null`)

export const registerJournal = (tx: Db, nowMs: number, row: Omit<KnownJournal, 'state' | 'updateDate'>) =>
  tx.run(sql`insert into journals (id, host, path, sequence, head_hash, state, merged_epoch, create_date, update_date)
    values (${row.id}, ${row.host}, ${row.path}, ${row.sequence}, ${row.headHash}, 'open', ${row.mergedEpoch},
      ${formatInstant(nowMs)}, ${formatInstant(nowMs)})
    on conflict (id) do update set host = excluded.host, path = excluded.path, sequence = excluded.sequence,
      head_hash = excluded.head_hash, state = 'open', merged_epoch = excluded.merged_epoch,
      update_date = excluded.update_date`)

/** Registers journals that this database does not know, as unmerged. Returns their ids. */
export const registerUnknown = async (
  tx: Db,
  nowMs: number,
  rows: readonly (JournalPlace & { headHash: Buffer })[],
  mergedEpoch: number,
): Promise<string[]> =>
  (
    await tx.all<{
      id: string
    }>(sql`insert into journals (id, host, path, sequence, head_hash, state, merged_epoch,
        create_date, update_date)
      select n.id, n.host, n.path, 0, n.head_hash, 'open', ${mergedEpoch}, ${formatInstant(nowMs)}, ${formatInstant(nowMs)}
      from unnest(${rows.map((row) => row.id)}::text[], ${rows.map((row) => row.host)}::text[],
        ${rows.map((row) => row.path)}::text[], ${rows.map((row) => row.headHash)}::bytea[]) as n(id, host, path, head_hash)
      on conflict (id) do nothing returning id`)
  ).map(({ id }) => id)

type JournalHead = Pick<KnownJournal, 'id' | 'sequence' | 'headHash'>

/** Records that the journal is in the database up to this head. */
export const advanceHead = (db: Db, nowMs: number, { id, sequence, headHash }: JournalHead) =>
  db.run(sql`update journals set sequence = ${sequence}, head_hash = ${headHash}, update_date = ${formatInstant(nowMs)}
    where id = ${id} and sequence < ${sequence} and state = 'open'`)

/** Declares a journal lost; false when there is no open journal with this id. */
export const declareLost = async (tx: Db, nowMs: number, id: string): Promise<boolean> =>
  (await tx.run(sql`update journals set state = 'lost', update_date = ${formatInstant(nowMs)}
    where id = ${id} and state = 'open'`)) > 0
