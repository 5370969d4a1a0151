import pg from 'pg'
import { render, type Sql } from './sql.ts'

export { allOf, join, jsonOf, raw, type Sql, sql } from './sql.ts'

/** A connection to the database, or one database transaction (`tx`) on it: the same calls on both. */
export type Db = {
  /** Every row. */
  all<Row>(query: Sql): Promise<Row[]>
  /** Exactly one row; anything else is a bug and throws. */
  one<Row>(query: Sql): Promise<Row>
  /** The first row, if there is one. */
  maybe<Row>(query: Sql): Promise<Row | undefined>
  /** How many rows were written. */
  run(query: Sql): Promise<number>
  /** Runs `work` in one database transaction; inside one it joins it, so that a verb can be part of a larger one. */
  tx<Result>(work: (tx: Db) => Promise<Result>): Promise<Result>
  /** Several statements in one string, for migrations only. */
  script(text: string): Promise<void>
}

/** The pool of a process, with what only a whole process needs. */
export type Database = Db & {
  /** Calls `onNotice` for every NOTIFY on `channel`; the connection is renewed when it breaks. */
  listen(channel: string, onNotice: (payload: string) => void): Promise<() => Promise<void>>
  close(): Promise<void>
}

export type Connection =
  | { url: string }
  | { host: string; port: number; user: string; database: string; password?: string }

const types = {
  int8: 20,
  numeric: 1700,
  timestamptz: 1184,
}

const parsers = new pg.TypeOverrides()
parsers.setTypeParser(types.int8, Number)
parsers.setTypeParser(types.numeric, BigInt)
parsers.setTypeParser(types.timestamptz, instantFromText)

/** "2026-11-21 01:02:03.4+00" to "2026-11-21T01:02:03.400Z" without a Date, which costs more than the query. */
function instantFromText(text: string): string {
  const [seconds = '', fraction = ''] = text.replace('+00', '').split('.')
  return `${seconds.replace(' ', 'T')}.${fraction.padEnd(3, '0')}Z`
}

/**
 * Opens a pool as the role that the program runs as, which can add to books and trails but not rewrite them
 * (migrations/0011). `maxConnections` bounds it. Every session is in UTC.
 */
export const openDatabase = (connection: Connection, maxConnections = 16): Database =>
  openPool(connection, maxConnections, '-c timezone=UTC -c role=bezant_runtime')

/** Opens a pool as whoever the connection names: for migrations, and for tests that look past the role. */
export const openAsOwner = (connection: Connection, maxConnections = 1): Database =>
  openPool(connection, maxConnections, '-c timezone=UTC')

function openPool(connection: Connection, maxConnections: number, options: string): Database {
  const where = 'url' in connection ? { connectionString: connection.url } : connection
  const settings = { ...where, types: parsers, options, application_name: 'bezant' }
  const pool = new pg.Pool({ ...settings, max: maxConnections, idleTimeoutMillis: 30_000 })
  pool.on('error', () => undefined)
  const db = callsOn((query) => pool.query(query))
  return {
    ...db,
    tx: (work) => inTransaction(pool, work),
    script: async (text) => void (await pool.query(text)),
    listen: (channel, onNotice) => listen(settings, channel, onNotice),
    close: () => pool.end(),
  }
}

/** The most statements that a process prepares: variants of filters must not fill the memory of the server. */
const preparedMax = 1_000
const preparedNames = new Map<string, string>()

/**
 * A query under a name, which the driver prepares once on each connection. Parsing and planning our statements costs
 * PostgreSQL more than running them.
 */
function prepared(text: string, values: unknown[]): pg.QueryConfig {
  // Without values the driver sends plain text, which needs no preparing.
  if (values.length === 0) return { text }
  const known = preparedNames.get(text)
  if (known) return { name: known, text, values }
  if (preparedNames.size === preparedMax) return { text, values }
  const name = `bezant-${preparedNames.size}`
  preparedNames.set(text, name)
  return { name, text, values }
}

type Query = (query: pg.QueryConfig) => Promise<pg.QueryResult>

function callsOn(query: Query): Pick<Db, 'all' | 'one' | 'maybe' | 'run'> {
  const send = async (piece: Sql) => {
    const { text, values } = render(piece)
    return query(prepared(text, values))
  }
  return {
    all: async <Row>(piece: Sql) => (await send(piece)).rows as Row[],
    one: async <Row>(piece: Sql) => {
      const { rows } = await send(piece)
      if (rows.length !== 1) throw new Error(`expected one row, got ${rows.length}: ${render(piece).text}`)
      return rows[0] as Row
    },
    maybe: async <Row>(piece: Sql) => (await send(piece)).rows[0] as Row | undefined,
    run: async (piece) => (await send(piece)).rowCount ?? 0,
  }
}

async function inTransaction<Result>(pool: pg.Pool, work: (tx: Db) => Promise<Result>): Promise<Result> {
  const client = await pool.connect()
  let broken: Error | undefined
  // A connection lost between two statements is told as an event; without a listener it would end the process.
  const onLost = (error: Error) => void (broken = error)
  client.on('error', onLost)
  try {
    await client.query('begin')
    const tx: Db = {
      ...callsOn((query) => client.query(query)),
      tx: (inner) => inner(tx),
      script: async (text) => void (await client.query(text)),
    }
    const result = await work(tx)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => (broken = failure))
    throw error
  } finally {
    if (!broken) client.off('error', onLost)
    client.release(broken)
  }
}

async function listen(settings: pg.ClientConfig, channel: string, onNotice: (payload: string) => void) {
  let client: pg.Client | undefined
  let closed = false
  const connect = async (): Promise<void> => {
    const next = new pg.Client(settings)
    next.on('notification', (notice) => onNotice(notice.payload ?? ''))
    next.on('error', () => undefined)
    next.on('end', () => {
      if (!closed) setTimeout(() => void connect().catch(() => undefined), 500).unref()
    })
    await next.connect()
    await next.query(`listen ${pg.escapeIdentifier(channel)}`)
    client = next
  }
  await connect()
  return async () => {
    closed = true
    await client?.end()
  }
}

/** The SQLSTATE of a database error, to tell a broken constraint from a lost connection. */
export const sqlState = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined

/** The name of the constraint that a database error reports. */
export const constraintOf = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'constraint' in error ? String(error.constraint) : undefined

const lostCodes = /^(08...|53...|57P..|ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ERR_STREAM_.*)$/
/** What the client says by itself, without a code. */
const lostTexts =
  /^(Connection terminated|Client (has encountered a connection error|was closed)|timeout exceeded when trying to connect)/

/** Whether the database could not be reached, had no room, or cut the connection: whether a commit was done is not known then. */
export const isDatabaseAway = (error: unknown): boolean =>
  lostCodes.test(sqlState(error) ?? '') || (error instanceof Error && lostTexts.test(error.message))
