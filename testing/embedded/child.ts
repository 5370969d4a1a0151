/** A process that the tests control and kill: answers each message with one of the same id. */
import pg from 'pg'
import { findBinaries } from '#runtime/db/embedded/binaries'
import { run } from '#runtime/db/embedded/command'
import {
  type EmbeddedPostgres,
  EmbeddedPostgresError,
  holdDataDirectory,
  joinEmbeddedPostgres,
  startEmbeddedPostgres,
} from '#runtime/db/embedded/index'
import { findOwner } from '#runtime/db/embedded/privileges'

export type Orders = {
  lock: { dataDir: string }
  start: { dataDir: string; ephemeral: boolean }
  join: { dataDir: string }
  /** Inserts rows until killed, and reports every one whose commit was acknowledged. */
  insert: { dataDir: string }
  /** Finds the binaries of a package and runs them. */
  binaries: { packageRoot: string }
}

export type Order = { [Name in keyof Orders]: { id: number; name: Name; input: Orders[Name] } }[keyof Orders]

export type Reply = { id: number; result?: unknown; error?: { code: string; message: string } }

let server: EmbeddedPostgres | undefined

async function obey(order: Order): Promise<unknown> {
  switch (order.name) {
    case 'lock':
      await holdDataDirectory(order.input)
      return process.pid
    case 'start': {
      const began = performance.now()
      const log = { info: () => {}, warn: () => {}, error: () => {} }
      server = await startEmbeddedPostgres({ ...order.input, log })
      return { connection: server.connection, startedInMs: performance.now() - began }
    }
    case 'join':
      return joinEmbeddedPostgres(order.input)
    case 'insert':
      return insertForever(order.input.dataDir)
    case 'binaries': {
      const owner = await findOwner('')
      const binaries = await findBinaries(owner, order.input.packageRoot)
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

process.on('message', (order: Order) => {
  obey(order).then(
    (result) => process.send!({ id: order.id, result }),
    (error: Error) => {
      const code = error instanceof EmbeddedPostgresError ? error.code : 'UNEXPECTED'
      process.send?.({ id: order.id, error: { code, message: error.stack ?? error.message } })
    },
  )
})
process.on('disconnect', () => process.exit())
process.on('SIGINT', async () => {
  await server?.stop()
  process.exit(0)
})
process.send!({ id: 0 })
