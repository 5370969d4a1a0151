import pg from 'pg'
import { ApiError } from '#lib/errors'
import { createLanes, type Lanes } from '#runtime/scheduling/fair-concurrency'
import { type Connection, directly, isPooled } from './connection.ts'
import { isConnectionLost, isVolumeFull } from './errors.ts'
import {
  answerMs,
  connectionSettings,
  connectMs,
  longLimits,
  ownerLimits,
  readLimits,
  type SessionLimits,
  setLimits,
  withoutSession,
  workLimits,
} from './limits.ts'
import { type ChannelListener, openListener } from './listen.ts'
import { fieldOf } from './names.ts'
import { driverSettings } from './primary.ts'
import { openReplaceablePool } from './replaceable-pool.ts'
import { render, type Sql } from './sql.ts'

export type { Connection } from './connection.ts'
export { constraintOf, isDatabaseAway, isDatabaseError, isVolumeFull, sqlState } from './errors.ts'
export { longLimits } from './limits.ts'
export { allOf, join, jsonOf, listedWord, raw, type Sql, sql } from './sql.ts'

/** A connection to the database, or one database transaction (`tx`) on it: the same calls on both. */
export type Db = {
  /** Returns every row. */
  all<Row>(query: Sql): Promise<Row[]>
  /** Returns exactly one row; any other number is a bug and throws. */
  one<Row>(query: Sql): Promise<Row>
  /** Returns the first row, if there is one. */
  maybe<Row>(query: Sql): Promise<Row | undefined>
  /** Returns the number of rows written. */
  run(query: Sql): Promise<number>
  /**
   * Runs `work` in one database transaction; inside a transaction, joins it, so that a verb can be part of a larger one.
   * `limits` replace the pool's limits, for work that is known to take long.
   */
  tx<Result>(work: (tx: Db) => Promise<Result>, limits?: SessionLimits): Promise<Result>
  /** Runs several statements in one string, for migrations only. */
  script(text: string): Promise<void>
}

/** The connection pools of a process, with its notifications, per-entity views and shutdown. */
export type Database = Db &
  ChannelListener & {
    /** The same database through a separate pool of read-only connections, which writing work cannot exhaust. */
    reading: Db
    /**
     * The database as used for one entity: while its calls wait for locks, other entities still get connections. Its calls
     * queue in front of the pool and are refused when too many wait. A `tx` of it must not call it again.
     */
    onBehalfOf(entityId: string): Database
    /** `reading` as used for one entity, by the same rules. */
    readingFor(entityId: string): Db
    /** Number of calls that wait for a connection of each pool. */
    waiting(): { work: number; reading: number }
    /** The error by which the server refused to write in the last seconds, because its volume is full. */
    fullVolume(): string | undefined
    /**
     * Runs `work` while no connection is open, so that it can copy or replace the database; calls wait meanwhile. Throws, and
     * leaves everything as it is, when the calls under way do not end in a few seconds.
     */
    closedWhile<Result>(work: () => Promise<Result>): Promise<Result>
    close(): Promise<void>
  }

const types = {
  int8: 20,
  numeric: 1700,
  timestamptz: 1184,
}

const parsers = new pg.TypeOverrides()
parsers.setTypeParser(types.int8, Number)
parsers.setTypeParser(types.numeric, BigInt)
parsers.setTypeParser(types.timestamptz, instantFromText)

/** Converts "2026-11-21 01:02:03.4+00" to "2026-11-21T01:02:03.400Z" without a Date, which costs more than the query. */
function instantFromText(text: string): string {
  const [seconds = '', fraction = ''] = text.replace('+00', '').split('.')
  return `${seconds.replace(' ', 'T')}.${fraction.padEnd(3, '0')}Z`
}

/** Share of a process's connections that is reserved for reading. */
const readingShare = 1 / 4
/** Share of the other connections that is reserved for work of no entity, such as engines in the same process. */
const ownShare = 1 / 4
const runtimeRole = { role: 'bezant_runtime' }
const readOnly = { default_transaction_read_only: 'on' }

/** Maximum number of queued calls of all entities. */
const waitingMax = 1_000

/**
 * Opens the pools under the program's runtime role, which can append to ledgers and audit trails but not rewrite them
 * (migrations/0001). `maxConnections` bounds both pools together.
 */
export function openDatabase(
  connection: Connection,
  maxConnections = 16,
  limits: SessionLimits = workLimits,
): Database {
  const readingMax = Math.max(1, Math.floor(maxConnections * readingShare))
  const reading = openPool(connection, readingMax, readLimits, { ...runtimeRole, ...readOnly })
  const workingMax = Math.max(1, maxConnections - readingMax)
  const working = openPool(connection, workingMax, limits, runtimeRole)
  const count = workingMax - Math.floor(workingMax * ownShare)
  const lanes = createEntityLanes(count)
  // One connection is left for API key lookups, which precede any work on behalf of an entity.
  const readingLanes = createEntityLanes(Math.max(1, readingMax - 1))
  const database: Database = {
    ...working,
    reading,
    onBehalfOf: (entityId) => ({ ...database, ...callsInTurn(working, lanes, entityId) }),
    readingFor: (entityId) => callsInTurn(reading, readingLanes, entityId),
    waiting: () => ({
      work: working.waiting() + lanes.waiting(),
      reading: reading.waiting() + readingLanes.waiting(),
    }),
    closedWhile: (work) => working.closedWhile(() => reading.closedWhile(work)),
    close: async () => void (await Promise.all([working.close(), reading.close()])),
  }
  return database
}

const crowded = () =>
  new ApiError('tooManyRequests', 'Too many of your requests wait for each other: try again in a moment.')

/** Lanes of the calls on so many connections, at which entities take turns. */
export const createEntityLanes = (count: number): Lanes =>
  createLanes({ leavesRoom: true, waitingMax, waitMs: connectMs, crowded, count })

function callsInTurn(db: Db, lanes: Lanes, asker: string): Db {
  return {
    all: (query) => lanes.run(asker, () => db.all(query)),
    one: (query) => lanes.run(asker, () => db.one(query)),
    maybe: (query) => lanes.run(asker, () => db.maybe(query)),
    run: (query) => lanes.run(asker, () => db.run(query)),
    tx: (work, limits) => lanes.run(asker, () => db.tx(work, limits)),
    script: (text) => lanes.run(asker, () => db.script(text)),
  }
}

/** Opens a pool as the user that the connection names: for migrations, and for tests that bypass the runtime role. */
export function openAsOwner(connection: Connection, maxConnections = 1): Database {
  const pool = openPool(directly(connection), maxConnections, ownerLimits)
  const database: Database = {
    ...pool,
    reading: pool,
    onBehalfOf: () => database,
    readingFor: () => database,
    waiting: () => ({ work: pool.waiting(), reading: 0 }),
  }
  return database
}

/** A pool of read-only connections to another server than that of the database, such as a standby of it. */
type OtherServer = Db & { close(): Promise<void> }

/**
 * Opens such a pool; a connection that is not made within `connectionMs` has failed. Each connection is passed to `accept` before
 * its first use, which throws to refuse it. As the user of the URL it sees the state of the server; else it has the runtime role.
 */
export function openOtherServer(
  connection: Connection,
  options: {
    maxConnections: number
    connectionMs: number
    as: 'user' | 'runtime'
    accept?: (db: Pick<Db, 'one'>) => Promise<void>
  },
): OtherServer {
  const { maxConnections, connectionMs, as, accept } = options
  const session = { ...(as === 'runtime' && runtimeRole), ...readOnly }
  return openPool(connection, maxConnections, readLimits, session, {
    connectionTimeoutMillis: connectionMs,
    ...(accept && {
      onConnect: (client) => accept(callsOn((query) => client.query(query), !isPooled(connection))),
    }),
  })
}

function openPool(
  connection: Connection,
  maxConnections: number,
  limits: SessionLimits,
  session?: Record<string, string>,
  more: Pick<pg.PoolConfig, 'connectionTimeoutMillis' | 'onConnect'> = {},
): Omit<Database, 'reading' | 'onBehalfOf' | 'readingFor' | 'waiting'> & { waiting(): number } {
  const keepsSessions = !isPooled(connection)
  const asked = connectionSettings(limits, session)
  const settings = {
    ...(keepsSessions ? asked : withoutSession(asked)),
    ...driverSettings(connection),
    types: parsers,
    ...more,
  }
  const pool = openReplaceablePool({ ...settings, max: maxConnections, idleTimeoutMillis: 30_000 })
  const { pause, resume, listen } = openListener({ ...asked, ...driverSettings(directly(connection)) })
  const refusals = noteRefusals()
  const db = callsOn((query) => refusals.of(pool.use((open) => open.query(query))), keepsSessions)
  return {
    ...db,
    fullVolume: refusals.newest,
    tx: (work, others) => refusals.of(pool.use((open) => inTransaction(open, work, others, keepsSessions))),
    script: async (text) => void (await pool.use((open) => open.query(text))),
    listen,
    waiting: pool.waiting,
    closedWhile: async (work) => {
      await pause()
      return pool.closedWhile(work).finally(resume)
    },
    close: pool.close,
  }
}

/** Time after the last refusal in which the volume counts as full: each process that writes is refused more often. */
const refusedMs = 10_000

/** Keeps the newest error that says that the volume of the server is full. */
function noteRefusals() {
  let refused: { atMs: number; message: string } | undefined
  return {
    of: <Result>(work: Promise<Result>): Promise<Result> =>
      work.catch((error: unknown) => {
        if (isVolumeFull(error)) refused = { atMs: performance.now(), message: (error as Error).message }
        throw error
      }),
    newest: () => (refused && performance.now() - refused.atMs < refusedMs ? refused.message : undefined),
  }
}

/** Returns the rows of a statement that reads whole tables, under the long time limits. */
export const scan = <Row>(db: Db, query: Sql): Promise<Row[]> => db.tx((tx) => tx.all<Row>(query), longLimits)

/** Maximum number of statements that a process prepares: filter variants must not fill the server's memory. */
const preparedMax = 1_000
const preparedStatements = new Map<string, { name: string; text: string }>()

/**
 * Names a query, so that the driver prepares it once on each connection. Parsing and planning our statements costs
 * PostgreSQL more than running them. The driver keeps the text for each connection, so all are given the same string.
 */
function prepared(text: string, values: unknown[]): pg.QueryConfig {
  // Only plain text may have parameters without values, which EXPLAIN (GENERIC_PLAN) takes.
  if (text.startsWith('explain')) return { text, values }
  const known = preparedStatements.get(text)
  if (known) return { ...known, values }
  if (preparedStatements.size === preparedMax) return { text, values }
  const statement = { name: `bezant-${preparedStatements.size}`, text }
  preparedStatements.set(text, statement)
  return { ...statement, values }
}

type Query = (query: pg.QueryArrayConfig) => Promise<pg.QueryArrayResult>

function callsOn(query: Query, prepares: boolean): Pick<Db, 'all' | 'one' | 'maybe' | 'run'> {
  const send = async (piece: Sql) => {
    const { text, values } = render(piece)
    return query({ ...(prepares ? prepared(text, values) : { text, values }), rowMode: 'array' })
  }
  return {
    all: async <Row>(piece: Sql) => rowsOf(await send(piece)) as Row[],
    one: async <Row>(piece: Sql) => {
      const rows = rowsOf(await send(piece))
      if (rows.length !== 1) throw new Error(`expected one row, got ${rows.length}: ${render(piece).text}`)
      return rows[0] as Row
    },
    maybe: async <Row>(piece: Sql) => rowsOf(await send(piece))[0] as Row | undefined,
    run: async (piece) => (await send(piece)).rowCount ?? 0,
  }
}

/** The rows of a result, with the names of the program: those of columns are looked up once for all rows. */
function rowsOf({ fields, rows }: pg.QueryArrayResult): unknown[] {
  const names = fields.map(({ name }) => fieldOf(name))
  return rows.map((values: unknown[]) => {
    const row: Record<string, unknown> = {}
    for (let index = 0; index < names.length; index++) row[names[index]!] = values[index]
    return row
  })
}

async function inTransaction<Result>(
  pool: pg.Pool,
  work: (tx: Db) => Promise<Result>,
  limits: SessionLimits | undefined,
  prepares: boolean,
): Promise<Result> {
  const client = await pool.connect()
  let lost: Error | undefined
  // A connection lost between two statements emits an event, which has the reason that later errors lack.
  const onLost = (error: Error) => void (lost ??= error)
  client.on('error', onLost)
  const answered = limits && { query_timeout: answerMs(limits) }
  try {
    await client.query(limits ? `begin; ${setLimits(limits)}` : 'begin')
    const tx: Db = {
      ...callsOn((query) => client.query({ ...query, ...answered }), prepares),
      tx: (inner) => inner(tx),
      script: async (text) => void (await client.query(text)),
    }
    const result = await work(tx)
    const { command } = await client.query('commit')
    if (command === 'ROLLBACK')
      throw new Error('a statement failed, and the work went on: nothing was written')
    return result
  } catch (error) {
    if (isConnectionLost(error)) lost ??= error as Error
    else await client.query('rollback').catch((failure: Error) => (lost ??= failure))
    // The first error comes from the server and names the reason; later ones only report a closed connection.
    throw isConnectionLost(error) ? lost : error
  } finally {
    client.off('error', onLost)
    client.release(lost)
  }
}
