/** A process that the tests control and kill: answers each message with one of the same id. */
import pg from 'pg'
import { DirectoryLockError, lockDirectory } from '#runtime/directory-lock/index'
import { findBinaries } from '#sandbox/postgres/binaries'
import { run } from '#sandbox/postgres/command'
import {
  type EmbeddedPostgres,
  EmbeddedPostgresError,
  joinEmbeddedPostgres,
  startEmbeddedPostgres,
} from '#sandbox/postgres/index'
import { findOwner } from '#sandbox/postgres/privileges'

export type ChildRequests = {
  lock: { dataDir: string }
  start: { dataDir: string; ephemeral: boolean }
  join: { dataDir: string }
  /** Inserts rows until killed, and reports every one whose commit was acknowledged. */
  insert: { dataDir: string }
  /** Finds the binaries of a package and runs them. */
  binaries: { packageRoot: string }
}

export type ChildRequest = {
  [Name in keyof ChildRequests]: { id: number; name: Name; input: ChildRequests[Name] }
}[keyof ChildRequests]

export type Reply = { id: number; result?: unknown; error?: { code: string; message: string } }

let server: EmbeddedPostgres | undefined

async function execute(request: ChildRequest): Promise<unknown> {
  switch (request.name) {
    case 'lock':
      await lockDirectory(request.input.dataDir)
      return process.pid
    case 'start': {
      const began = performance.now()
      const log = { info: () => {}, warn: () => {}, error: () => {} }
      server = await startEmbeddedPostgres({ ...request.input, log })
      return { connection: server.connection, startedInMs: performance.now() - began }
    }
    case 'join':
      return joinEmbeddedPostgres(request.input)
    case 'insert':
      return insertForever(request.input.dataDir)
    case 'binaries': {
      const owner = await findOwner('')
      const binaries = await findBinaries(owner, request.input.packageRoot)
      await run({ program: binaries.postgres, args: ['--version'], cluster: '/', owner })
      await run({ program: binaries.initdb, args: ['--version'], cluster: '/', owner })
      return binaries
    }
  }
}

async function insertForever(dataDir: string): Promise<never> {
  const client = new pg.Client(await joinEmbeddedPostgres({ dataDir }))
  await client.connect()
  await client.query('CREATE TABLE IF NOT EXISTS kept (id bigserial PRIMARY KEY)')
  for (;;) {
    const { rows } = await client.query('INSERT INTO kept DEFAULT VALUES RETURNING id')
    process.send!({ acknowledged: rows[0].id })
  }
}

const isExpected = (error: Error) =>
  error instanceof DirectoryLockError || error instanceof EmbeddedPostgresError

process.on('message', (request: ChildRequest) => {
  execute(request).then(
    (result) => process.send!({ id: request.id, result }),
    (error: Error) => {
      const code = isExpected(error) ? error.code : 'UNEXPECTED'
      process.send?.({ id: request.id, error: { code, message: error.stack ?? error.message } })
    },
  )
})
process.on('disconnect', () => process.exit())
process.on('SIGINT', async () => {
  await server?.stop()
  process.exit(0)
})
process.send!({ id: 0 })
