/** Databases that are prepared once and copied for each of many sandboxes on one server. */
import { openContext } from '#context'
import type { Config } from '#runtime/config'
import type { Connection } from '#runtime/db/db'
import type { Log } from '#runtime/log/log'
import { publicCredentials } from './credentials.ts'
import { seedSandbox } from './seed.ts'
import { connectionTo, withMaintenance } from './snapshots/maintenance.ts'

type PreparedInput = { config: Config; log: Log; rootKey: Buffer; connection: Connection; name: string }

/** Makes a database with the tables, the public credentials and the keys that take long to make. No chain is in it yet. */
export async function prepareDatabase({ connection, name, ...input }: PreparedInput): Promise<void> {
  await withMaintenance(connection, (maintenance) => maintenance.create(name))
  const { ctx, close } = await openContext({
    ...input,
    connection: connectionTo(connection, name),
    nodes: [],
  })
  try {
    await seedSandbox(ctx, publicCredentials)
    await ctx.custody.notary.certificateId()
  } finally {
    await close()
  }
}

/** Copies a prepared database, and returns the connection to the copy. */
export async function copyDatabase(connection: Connection, from: string, to: string): Promise<Connection> {
  await withMaintenance(connection, (maintenance) => maintenance.copy(from, to))
  return connectionTo(connection, to)
}

export const dropDatabase = (connection: Connection, name: string): Promise<void> =>
  withMaintenance(connection, (maintenance) => maintenance.drop(name))
