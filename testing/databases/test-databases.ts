/**
 * Test databases of one run. The server is started for the first database: an embedded ephemeral one, or the one of
 * DATABASE_URL, or the distributed one of BEZANT_TEST_DISTRIBUTED_URL. Every test file gets a copy of a template.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Connection, type Database, openAsOwner, sql } from '#runtime/db/db'
import { migrate } from '#runtime/db/migrate'
import { createLog } from '#runtime/log/log'
import { startEmbeddedPostgres } from '#sandbox/postgres/index'
import { until } from '#testing/platform/until'
import { type DistributedServer, openDistributedServer } from './distributed-server.ts'
import { migratePartitioned } from './partitions.ts'

/** Migrated, also with the start of every test, or also with tables of tenants that are partitioned by tenant. */
export type TemplateName = 'empty' | 'seeded' | 'partitioned'
export type TestConnection = { name: string; connection: Connection }

export type TestDatabases = {
  /** Copies a template, or an earlier copy without connections. */
  copy(template: string): Promise<TestConnection>
  drop(name: string): Promise<void>
  stop(): Promise<void>
}

type Server = {
  connection: Connection
  /** A session on each server that has a part of the databases. */
  admins: readonly Database[]
  distributed?: DistributedServer
  stop: () => Promise<void>
}

/** Other forms of the tables in all templates: distributed over servers, or partitioned by tenant. */
type TableForm = { distributedUrl?: string | undefined; isPartitioned?: boolean }

export function serveDatabases(
  databaseUrl: string | undefined,
  { distributedUrl, isPartitioned = false }: TableForm = {},
): TestDatabases {
  const run = `bezant_test_${randomBytes(5).toString('hex')}`
  const made = new Set<string>()
  let count = 0
  let starting: Promise<Server> | undefined
  const templates = new Map<TemplateName, Promise<string>>()

  const join = () =>
    distributedUrl ? joinDistributed(distributedUrl) : databaseUrl ? joinServer(databaseUrl) : startServer()
  const server = () => (starting ??= join())
  const create = async (name: string, template?: string): Promise<TestConnection> => {
    const { admins, connection, distributed } = await server()
    if (template) await distributed?.leave(template)
    await Promise.all(
      admins.map(async (admin) => {
        if (template) await untilUnused(admin, template)
        await admin.script(
          `create database "${name}"${template ? ` template "${template}" strategy file_copy` : ''}`,
        )
      }),
    )
    made.add(name)
    if (!template) await distributed?.join(name)
    await distributed?.set(name)
    return { name, connection: within(connection, name) }
  }
  const templateOf = (template: TemplateName): Promise<string> => {
    const known = templates.get(template)
    if (known) return known
    const building = build(template)
    templates.set(template, building)
    return building
  }
  const build = async (template: TemplateName): Promise<string> => {
    const from = template === 'seeded' ? await templateOf('empty') : undefined
    const { name, connection } = await create(`${run}_${template}`, from)
    if (template === 'seeded') await (await import('./template.ts')).seedTemplate(connection)
    else if (isPartitioned || template === 'partitioned') await migratePartitioned(connection)
    else {
      await migrate(connection)
      await (await server()).distributed?.distribute(connection)
    }
    return name
  }
  const drop = async (name: string) => {
    if (!made.delete(name)) return
    const { admins } = await server()
    for (const admin of admins) await admin.script(`drop database if exists "${name}" with (force)`)
  }
  return {
    copy: async (name) =>
      create(`${run}_${++count}`, made.has(name) ? name : await templateOf(name as TemplateName)),
    drop,
    stop: async () => {
      if (!starting) return
      if (databaseUrl || distributedUrl) for (const name of made) await drop(name)
      const running = await starting
      for (const admin of running.admins) await admin.close()
      await running.stop()
    },
  }
}

async function startServer(): Promise<Server> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bezant-test-'))
  const postgres = await startEmbeddedPostgres({ dataDir, ephemeral: true, log: createLog('error') })
  const { connection, stop } = postgres
  const admin = openAsOwner(connection, 4)
  // Test databases live for seconds: planning each statement five times per connection takes a third of the server's time.
  await admin.script('alter system set plan_cache_mode = force_generic_plan')
  await admin.script('select pg_reload_conf()')
  return { connection, admins: [admin], stop }
}

async function joinServer(url: string): Promise<Server> {
  return { connection: { url }, admins: [openAsOwner({ url }, 4)], stop: async () => undefined }
}

async function joinDistributed(url: string): Promise<Server> {
  const distributed = await openDistributedServer(url)
  return { connection: { url }, admins: distributed.admins, distributed, stop: async () => undefined }
}

/** A closed session ends a moment later, and the server waits only five seconds for those of a database that it copies. */
const untilUnused = (admin: Database, name: string) =>
  until(async () => {
    const sessions = sql`select 1 from pg_stat_activity
      where datname = ${name} and backend_type is distinct from 'autovacuum worker'`
    return (await admin.all(sessions)).length === 0
  }, `the sessions of ${name} have ended`)

function within(connection: Connection, name: string): Connection {
  if (!('url' in connection)) return { ...connection, database: name }
  const url = new URL(connection.url)
  url.pathname = `/${name}`
  return { url: url.href }
}
