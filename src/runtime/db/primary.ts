/**
 * Connects to the one of several servers that writes. The driver knows a single server, and a failover makes another one of
 * them the primary.
 */
import pg from 'pg'
import { type DatabaseServer, parseDatabaseUrl } from '#runtime/database-url'
import type { Connection } from './connection.ts'

type ClientClass = new (settings?: pg.ClientConfig) => pg.Client

/** Time in which a server that is asked whether it writes has to answer: all are asked at once. */
const askMs = 3_000

/** Returns the settings of the driver for a connection, and the class of its clients. */
export function driverSettings(connection: Connection): pg.ClientConfig & { Client: ClientClass } {
  if (!('url' in connection)) return { ...connection, Client: pg.Client }
  const { first, servers, needsPrimary } = parseDatabaseUrl(connection.url)
  return { connectionString: first, Client: needsPrimary ? primaryClient(servers) : pg.Client }
}

type Connect = (callback: (error: Error | null) => void) => void

/**
 * Returns the class of clients that connect to the primary among `servers`. They ask all servers for it, and then only after
 * they could not connect to it, or it became a standby.
 */
function primaryClient(servers: readonly DatabaseServer[]): ClientClass {
  let known: DatabaseServer | undefined
  let looking: Promise<DatabaseServer> | undefined
  const look = (settings: pg.ClientConfig) => {
    looking ??= findPrimary(servers, settings).finally(() => {
      looking = undefined
    })
    return looking
  }
  const connectTo = async (client: pg.Client, connect: Connect, settings: pg.ClientConfig) => {
    const server = known ?? (await look(settings))
    Object.assign(client, server)
    try {
      await new Promise<void>((resolve, reject) => connect((error) => (error ? reject(error) : resolve())))
      if ((await timelineOf(client)) === '') {
        await client.end()
        throw notPrimary(`${nameOf(server)} is a standby by now`)
      }
    } catch (error) {
      if (known === server) known = undefined
      throw error
    }
    known = server
  }
  // The pool constructs its clients, whose `connect` it calls with a callback.
  const construct = (Client: ClientClass, [settings]: [pg.ClientConfig]) => {
    const client = new Client(settings)
    const connect: Connect = client.connect.bind(client)
    const connecting = (callback?: Parameters<Connect>[0]) => {
      const connected = connectTo(client, connect, settings)
      if (!callback) return connected
      connected.then(() => callback(null), callback)
    }
    return Object.assign(client, { connect: connecting })
  }
  return new Proxy<ClientClass>(pg.Client, { construct })
}

/**
 * Asks all servers at once; returns the one that writes. Of two, which a failover without fencing leaves, it is the one that was
 * promoted last: its timeline is higher.
 */
async function findPrimary(
  servers: readonly DatabaseServer[],
  settings: pg.ClientConfig,
): Promise<DatabaseServer> {
  const asked = await Promise.all(servers.map((server) => ask(server, settings)))
  const writing = asked.filter(({ timeline }) => timeline !== '')
  const newest = writing.sort((a, b) => (a.timeline < b.timeline ? 1 : -1))[0]
  if (newest) return newest.server
  throw notPrimary(asked.map(({ server, trouble }) => `${nameOf(server)} ${trouble}`).join('; '))
}

/** The timeline of a server that writes, in hexadecimal digits of one length; else why it does not. */
async function ask(server: DatabaseServer, settings: pg.ClientConfig) {
  const client = new pg.Client({ ...settings, connectionTimeoutMillis: askMs, query_timeout: askMs })
  client.on('error', () => undefined)
  Object.assign(client, server)
  try {
    await client.connect()
    const timeline = await timelineOf(client)
    return { server, timeline, trouble: 'is a standby' }
  } catch (error) {
    return { server, timeline: '', trouble: (error as Error).message || 'does not answer' }
  } finally {
    // It may wait for a frozen server.
    client.end().catch(() => undefined)
  }
}

/** Asks by a statement, because a pooler in between tells of the server of an earlier connection. Empty for a standby. */
async function timelineOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query(`select case when pg_is_in_recovery() then ''
    else left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`)
  return rows[0].timeline
}

const nameOf = ({ host, port }: DatabaseServer) => `${host}:${port}`

/** The code is that of a statement that would write on a standby. */
const notPrimary = (reason: string) =>
  Object.assign(new Error(`no server of DATABASE_URL accepts writes (${reason})`), { code: '25006' })
