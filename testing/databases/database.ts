import { inject } from 'vitest'
import { type Connection, type Database, openDatabase } from '#runtime/db/db'
import { cloneOf } from './database-clone.ts'
import type { TemplateName } from './test-databases.ts'

export type TestDatabase = { connection: Connection; database: Database; close(): Promise<void> }

/** A separate database for one test file: migrated (`empty`), or with transport key and sandbox entity (`seeded`). */
export async function openTestDatabase(template: TemplateName = 'empty'): Promise<TestDatabase> {
  const { connection, drop } = await cloneDatabase(template)
  const database = openDatabase(connection, 8)
  return {
    connection,
    database,
    close: async () => {
      await database.close()
      await drop()
    },
  }
}

/** The clone without a connection to it, for tests that open their own. */
export async function cloneDatabase(template: TemplateName) {
  return cloneOf(inject('runServer'), template)
}
