/**
 * Test databases, in the main process of a test run. One server for the whole run, started when the first test asks:
 * an embedded ephemeral one, or the one of DATABASE_URL. Every test file gets a clone of a template, which takes
 * some 30 ms. Workers ask over loopback HTTP: `POST /empty` or `/seeded` makes one, `POST /NAME` copies one that nobody
 * is connected to, `DELETE /NAME` drops it.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Connection, type Database, openAsOwner } from '#runtime/db/db'
import { startEmbeddedPostgres } from '#runtime/db/embedded/index'
import { migrate } from '#runtime/db/migrate'
import { createLog } from '#runtime/log/log'

export type TemplateName = 'empty' | 'seeded'
export type TestConnection = { name: string; connection: Connection }

type Server = { connection: Connection; admin: Database; stop: () => Promise<void> }

export async function startDatabaseServer(databaseUrl: string | undefined) {
  const run = `bezant_test_${randomBytes(5).toString('hex')}`
  const made = new Set<string>()
  let count = 0
  let starting: Promise<Server> | undefined
  const templates = new Map<TemplateName, Promise<string>>()

  const server = () => (starting ??= databaseUrl ? joinServer(databaseUrl) : startServer())
  const create = async (name: string, template?: string): Promise<TestConnection> => {
    const { admin, connection } = await server()
    await admin.script(`create database "${name}"${template ? ` template "${template}"` : ''}`)
    made.add(name)
    return { name, connection: within(connection, name) }
  }
  const drop = async (name: string) => {
    if (!made.delete(name)) return
    const { admin } = await server()
    await admin.script(`drop database if exists "${name}" with (force)`)
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
    if (template === 'empty') await migrate(connection)
    else await (await import('./template.ts')).seedTemplate(connection)
    return name
  }
  const listener = createServer((request, response) => {
    const [, name = ''] = (request.url ?? '').split('/')
    const work = async () => {
      if (request.method === 'DELETE') return drop(name)
      const template = made.has(name) ? name : await templateOf(name as TemplateName)
      return create(`${run}_${++count}`, template)
    }
    work().then(
      (result) => response.end(JSON.stringify(result ?? {})),
      (error: Error) => response.writeHead(500).end(String(error.stack)),
    )
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => listener.once('listening', resolve))

  const stop = async () => {
    listener.close()
    listener.closeAllConnections()
    if (!starting) return
    if (databaseUrl) for (const name of made) await drop(name)
    const running = await starting
    await running.admin.close()
    await running.stop()
  }
  return { url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`, stop }
}

async function startServer(): Promise<Server> {
  const dataDir = await mkdtemp(join(tmpdir(), 'bezant-test-'))
  const postgres = await startEmbeddedPostgres({ dataDir, ephemeral: true, log: createLog('error') })
  const { connection } = postgres
  const stop = async () => {
    await postgres.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
  return { connection, admin: openAsOwner(connection, 4), stop }
}

async function joinServer(url: string): Promise<Server> {
  return { connection: { url }, admin: openAsOwner({ url }, 4), stop: async () => undefined }
}

function within(connection: Connection, name: string): Connection {
  if (!('url' in connection)) return { ...connection, database: name }
  const url = new URL(connection.url)
  url.pathname = `/${name}`
  return { url: url.href }
}
