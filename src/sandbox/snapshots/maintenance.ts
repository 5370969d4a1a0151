/**
 * The databases of snapshots are copies on the same server. They are made, renamed and dropped through a connection to another
 * database, because PostgreSQL does neither with one that has a session.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { ApiError } from '#lib/errors'
import { type Connection, type Database, openAsOwner, sql, sqlState } from '#runtime/db/db'
import { connectionSettings, ownerLimits } from '#runtime/db/limits'

type Maintenance = {
  /** Copies a database without sessions. */
  copy(from: string, to: string): Promise<void>
  /** Makes an empty database. */
  create(name: string): Promise<void>
  exists(name: string): Promise<boolean>
  drop(name: string): Promise<void>
  sizeBytes(name: string): Promise<number>
  /** Gives the database `next` the name `current`, and that one the name `aside`, at once. Does nothing when it is done already. */
  swap(names: { current: string; aside: string; next: string }): Promise<void>
  /** The other programs of Bezant that are connected to the database. */
  programsIn(name: string): Promise<string[]>
  /** Ends every session of the database. */
  endSessions(name: string): Promise<void>
}

/** The part of a URL before the name of its database, which may list several servers, and that name. */
const ofDatabase = /^([a-z]+:\/\/[^/?#]*)(\/[^?#]*)?/

/** Returns the connection to another database of the same server. */
export function connectionTo(connection: Connection, database: string): Connection {
  if (!('url' in connection)) return { ...connection, database }
  return { url: connection.url.replace(ofDatabase, `$1/${encodeURIComponent(database)}`) }
}

/** The databases to connect to, the first that exists: the embedded server has no `postgres`. */
const othersOn = (connection: Connection) => ('url' in connection ? ['postgres', 'template1'] : ['template1'])
const invalidCatalogName = '3D000'
const insufficientPrivilege = '42501'

/** Runs `work` with a connection to another database of the server. */
export async function withMaintenance<Result>(
  connection: Connection,
  work: (maintenance: Maintenance) => Promise<Result>,
): Promise<Result> {
  const others = othersOn(connection)
  for (const name of others) {
    const database = openAsOwner(connectionTo(connection, name))
    try {
      await database.one(sql`select 1 as one`)
      return await work(maintenanceOn(database))
    } catch (error) {
      if (sqlState(error) === insufficientPrivilege) throw mayNotCreate()
      if (sqlState(error) !== invalidCatalogName || name === others.at(-1)) throw error
    } finally {
      await database.close()
    }
  }
  throw new Error('the server has no database to connect to')
}

const mayNotCreate = () =>
  new ApiError(
    'snapshotConflict',
    'Snapshots are copies of the database, and its user may not make any: let it with ALTER ROLE … CREATEDB, or unset DATABASE_URL to use the embedded server.',
  )

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
const endedWithinMs = 5_000

function maintenanceOn(database: Database): Maintenance {
  const exists = async (name: string) =>
    (await database.maybe(sql`select 1 as found from pg_database where datname = ${name}`)) !== undefined
  const sessionsOf = (name: string) =>
    database.all<{ pid: number; program: string }>(sql`select pid, application_name as program
      from pg_stat_activity where datname = ${name} and pid <> pg_backend_pid()`)
  // Commits of a durable cluster must not wait for a checkpoint, which a copy of files takes two of.
  const strategy = async () => {
    const { isDurable } = await database.one<{ isDurable: boolean }>(
      sql`select current_setting('fsync') = 'on' as is_durable`,
    )
    return isDurable ? 'wal_log' : 'file_copy'
  }
  return {
    exists,
    copy: async (from, to) =>
      database.script(`create database ${quoted(to)} template ${quoted(from)} strategy ${await strategy()}`),
    create: (name) => database.script(`create database ${quoted(name)} template template0`),
    drop: (name) => database.script(`drop database if exists ${quoted(name)} with (force)`),
    sizeBytes: async (name) =>
      (await database.one<{ bytes: number }>(sql`select pg_database_size(${name}) as bytes`)).bytes,
    swap: async ({ current, aside, next }) => {
      if (!(await exists(next))) return
      const away = (await exists(current))
        ? `alter database ${quoted(current)} rename to ${quoted(aside)}; `
        : ''
      await database.script(
        `begin; ${away}alter database ${quoted(next)} rename to ${quoted(current)}; commit`,
      )
    },
    programsIn: async (name) => {
      const own = connectionSettings(ownerLimits).application_name
      const programs = (await sessionsOf(name)).map(({ program }) => program)
      return [
        ...new Set(programs.filter((program) => program.startsWith('bezant ') && program !== own)),
      ].sort()
    },
    endSessions: async (name) => {
      const deadlineMs = performance.now() + endedWithinMs
      for (;;) {
        const sessions = await sessionsOf(name)
        if (sessions.length === 0) return
        if (performance.now() > deadlineMs) throw new Error(`sessions of the database ${name} do not end`)
        await database.all(
          sql`select pg_terminate_backend(pid) from unnest(${sessions.map(({ pid }) => pid)}::int[]) as pid`,
        )
        await delay(5)
      }
    },
  }
}
