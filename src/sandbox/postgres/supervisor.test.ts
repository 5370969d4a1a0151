import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { migrate } from '#runtime/db/migrate'
import { lockDirectory } from '#runtime/directory-lock/index'
import { until } from '#testing/platform/until'
import {
  cleanUp,
  findPids,
  isRunning,
  ownTemporaryDirectory,
  startChild,
  temporaryDirectory,
} from '#testing/postgres/kit'
import { joinEmbeddedPostgres, type ServerAddress, startEmbeddedPostgres } from './index.ts'
import { findOwner } from './privileges.ts'

afterEach(cleanUp)

const isRoot = process.getuid?.() === 0

function recordingLog() {
  const lines: string[] = []
  const record = (_: object, message: string) => void lines.push(message)
  return { lines, info: record, warn: record, error: record }
}

async function query(connection: ServerAddress, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const postmasterOf = (cluster: string) =>
  Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0])

test('a persistent cluster keeps its rows, listens on no port, syncs its commits, and reports why it cannot start', async () => {
  const dataDir = temporaryDirectory()
  const first = await startEmbeddedPostgres({ dataDir, ephemeral: false, log: recordingLog() })
  await query(first.connection, 'CREATE TABLE kept AS SELECT 7 AS value')
  const [settings] = await query(
    first.connection,
    `SELECT current_setting('listen_addresses') AS addresses, current_setting('fsync') AS fsync,
            current_setting('TimeZone') AS zone, current_setting('server_encoding') AS encoding,
            upper('ä') AS upper, current_setting('full_page_writes') AS pages`,
  )
  expect(settings).toEqual({
    addresses: '',
    fsync: 'on',
    zone: 'UTC',
    encoding: 'UTF8',
    upper: 'Ä',
    pages: 'on',
  })
  await first.stop()
  expect(await first.exited).toEqual({ code: 0, signal: null, expected: true })

  const log = recordingLog()
  const second = await startEmbeddedPostgres({ dataDir, ephemeral: false, log })
  expect(log.lines.join('\n')).toContain('database system was shut down at')
  expect(await query(second.connection, 'SELECT value FROM kept')).toEqual([{ value: 7 }])
  await second.stop()
  expect(readdirSync(dataDir).sort()).toEqual(['lock', 'postgres'])

  // A cluster that cannot start reports the reason and releases the lock.
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '9.6\n')
  const start = () => startEmbeddedPostgres({ dataDir, ephemeral: false, log: recordingLog() })
  await expect(start()).rejects.toThrow(/did not start.*incompatible/s)
  await expect(start()).rejects.toMatchObject({ code: 'START_FAILED' })
})

test('an ephemeral cluster leaves no files and does not touch a persistent one beside it', async () => {
  const temporary = ownTemporaryDirectory()
  const dataDir = join(temporary, 'data')
  const persistent = await startEmbeddedPostgres({ dataDir, ephemeral: false, log: recordingLog() })
  await query(persistent.connection, 'CREATE TABLE kept AS SELECT 7 AS value')
  await persistent.stop()
  const ephemeral = await startEmbeddedPostgres({ dataDir, ephemeral: true, log: recordingLog() })
  await expect(query(ephemeral.connection, 'SELECT * FROM kept')).rejects.toThrow('does not exist')
  await ephemeral.stop()
  expect(readdirSync(dataDir)).toEqual(['postgres'])

  const other = join(temporary, 'nothing', 'x'.repeat(150))
  const second = await startEmbeddedPostgres({ dataDir: other, ephemeral: true, log: recordingLog() })
  const pid = postmasterOf(second.connection.host)
  await second.stop()
  await until(() => !isRunning(pid) && findPids(`bezant-watchdog ${pid} `).length === 0)
  expect(readdirSync(join(temporary, 'nothing'))).toEqual([])
  expect(
    readdirSync(temporary)
      .filter((name) => !name.includes('-pg-'))
      .sort(),
  ).toEqual(['data', 'nothing'])
})

test('a second start is refused without effect on the first; other processes join through its socket, however long its path', async () => {
  const dataDir = join(temporaryDirectory(), 'x'.repeat(120), 'y'.repeat(120))
  const server = await startEmbeddedPostgres({ dataDir, ephemeral: false, log: recordingLog() })
  const child = await startChild()
  for (const ephemeral of [true, false]) {
    const { error } = await child.request('start', { dataDir, ephemeral })
    expect(error).toMatchObject({
      code: 'IN_USE',
      message: expect.stringContaining(`process ${process.pid}`),
    })
  }
  const { result } = await child.request('join', { dataDir })
  expect(result).toEqual(server.connection)
  expect(await query(result as ServerAddress, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  await server.stop()
  expect((await child.request('join', { dataDir })).error).toMatchObject({ code: 'NOT_RUNNING' })
})

test('a join waits for a starting server, and fails at once where none starts', async () => {
  const dataDir = temporaryDirectory()
  await expect(joinEmbeddedPostgres({ dataDir })).rejects.toThrow(/no sandbox .*is running on/)
  await expect(joinEmbeddedPostgres({ dataDir: join(dataDir, 'missing') })).rejects.toMatchObject({
    code: 'NOT_RUNNING',
  })
  const hold = await lockDirectory(dataDir)
  await expect(joinEmbeddedPostgres({ dataDir })).rejects.toMatchObject({ code: 'NOT_RUNNING' })
  await hold.release()
  const starting = startEmbeddedPostgres({ dataDir, ephemeral: true, log: recordingLog() })
  await until(() => existsSync(join(dataDir, 'lock', 'holder.json')))
  const joined = await joinEmbeddedPostgres({ dataDir })
  const server = await starting
  expect(joined).toEqual(server.connection)
  await server.stop()
})

test('Ctrl-C, which reaches the whole process group, stops the server in order', async () => {
  const dataDir = temporaryDirectory()
  const child = await startChild()
  const { result } = await child.request('start', { dataDir, ephemeral: false })
  const { connection } = result as { connection: ServerAddress }
  const client = new pg.Client(connection)
  client.on('error', () => {})
  await client.connect()
  const exited = once(child.process, 'exit')
  process.kill(-child.process.pid!, 'SIGINT')
  expect(await exited).toEqual([0, null])
  expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false)
  const log = recordingLog()
  const server = await startEmbeddedPostgres({ dataDir, ephemeral: false, log })
  expect(log.lines.join('\n')).toContain('database system was shut down at')
  await server.stop()
})

test('the end of a server that was not stopped is reported', async () => {
  const log = recordingLog()
  const dataDir = temporaryDirectory()
  const server = await startEmbeddedPostgres({ dataDir, ephemeral: true, log })
  process.kill(postmasterOf(server.connection.host), 'SIGKILL')
  expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL', expected: false })
  expect(log.lines).toContain('PostgreSQL ended unexpectedly')
  await server.stop()
  expect(existsSync(dataDir)).toBe(false)
})

test.runIf(isRoot)(
  'root starts the server as an unprivileged user who cannot enter the parent directory',
  async () => {
    const dataDir = join(temporaryDirectory(), 'data')
    mkdirSync(dataDir, { mode: 0o700 })
    const server = await startEmbeddedPostgres({ dataDir, ephemeral: false, log: recordingLog() })
    const cluster = statSync(join(dataDir, 'postgres'))
    expect(cluster.uid).not.toBe(0)
    expect(cluster.mode & 0o777).toBe(0o700)
    expect(statSync(`/proc/${postmasterOf(server.connection.host)}`).uid).toBe(cluster.uid)
    await server.stop()
  },
)

test.runIf(isRoot)(
  'root continues the cluster of an ordinary user, and the user continues it after root',
  async () => {
    ownTemporaryDirectory()
    const user = await findOwner('')
    const dataDir = temporaryDirectory(user)
    for (const turn of [user, undefined, user]) {
      const child = await startChild(turn)
      const { result, error } = await child.request('start', { dataDir, ephemeral: false })
      expect(error).toBeUndefined()
      if (turn === undefined) {
        const { connection } = result as { connection: ServerAddress }
        expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
      }
      const exited = once(child.process, 'exit')
      child.process.kill('SIGINT')
      await exited
    }
  },
)

test('tells of no repaired rights in a database that is new', async () => {
  const server = await startEmbeddedPostgres({
    dataDir: temporaryDirectory(),
    ephemeral: true,
    log: recordingLog(),
  })
  const repaired: string[] = []
  expect(await migrate(server.connection, (what) => repaired.push(what))).not.toEqual([])
  expect(repaired).toEqual([])
  await server.stop()
})
