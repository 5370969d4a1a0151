import { randomBytes } from 'node:crypto'
import { newId } from '#lib/ids'
import { insertApiKey, insertEntity } from '#runtime/auth/store'
import { type Connection, type Database, openAsOwner } from '#runtime/db/db'
import { migrate } from '#runtime/db/migrate'
import { createLog } from '#runtime/log/log'
import { startEmbeddedPostgres } from '#sandbox/postgres/index'
import { compiled, startProgram } from './processes.ts'
import type { Run } from './run.ts'

/** A migrated database and the API on it, each in a separate process; no chain. */
export type Platform = {
  url: string
  database: Database
  entityId: string
  headers: { authorization: string }
  pid: number
  connection: Connection
}

/**
 * Starts the platform. Pages are read with the driver settings of the program; `fill` also measures the tables, so it
 * connects as their owner.
 */
export async function startPlatform(run: Run, fill: (database: Database, entityId: string) => Promise<void>) {
  const dataDir = await run.directory()
  const postgres = await startEmbeddedPostgres({ dataDir, ephemeral: true, log: createLog('error') })
  run.atEnd(postgres.stop)
  await migrate(postgres.connection)
  const database = openAsOwner(postgres.connection, 16)
  run.atEnd(database.close)
  const entityId = newId(Date.now())
  const key = await database.tx(async (tx) => {
    const nowMs = Date.now()
    await insertEntity(tx, { id: entityId, environment: 'TEST', name: 'Bench', nowMs })
    return insertApiKey(tx, { entityId, environment: 'TEST', nowMs })
  })
  await fill(database, entityId)
  const { line, child } = await startProgram(run, {
    args: [(await compiled()).bezant, 'serve', '--port', '0', '--data-dir', dataDir],
    env: { DATABASE_URL: '', BEZANT_ROOT_KEY: randomBytes(32).toString('hex') },
    readyOn: 'stderr',
    isReady: (text) => text.includes('"url"'),
  })
  const { url } = JSON.parse(line) as { url: string }
  const headers = { authorization: `Bearer ${key.text}` }
  const { connection } = postgres
  return { url, database, entityId, headers, pid: child.pid!, connection } satisfies Platform
}
