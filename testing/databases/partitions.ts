/**
 * Migrations that make each table of tenants partitioned by the hash of its tenant, as a distributed PostgreSQL spreads it over
 * servers: what a statement reads of one partition, it would read of one server. The triggers are those of such a server, too.
 */
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseSync } from 'libpg-query'
import { type Connection, openAsOwner, sql } from '#runtime/db/db'
import { distributedForms, migrate } from '#runtime/db/migrate'
import type { TenantColumns } from './statement-kinds.ts'
import { nameOf, type Part, partOf } from './statement-parts.ts'
import { readMigrations, readTenantColumns } from './tenant-columns.ts'

const partitionsCount = 4
const numbers = [...Array(partitionsCount).keys()]
/** Partitions have the names of their tables, which errors and triggers name. */
const schemaOf = (number: number) => `partition_${number}`

/** Whether a schema holds partitions. */
export const isPartitions = (schema: string): boolean => /^partition_\d+$/.test(schema)

/** Applies the migrations to an empty database with partitioned tables. Programs find them applied as they are written. */
export async function migratePartitioned(connection: Connection): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bezant-partitioned-'))
  const owner = openAsOwner(connection)
  try {
    const columns = readTenantColumns()
    const hashes = new Map<string, string>()
    for (const { name, text } of readMigrations()) {
      hashes.set(name, createHash('sha256').update(text).digest('hex'))
      await writeFile(join(folder, name), partitionedTables(text, columns))
    }
    for (const number of numbers) await owner.script(`create schema ${schemaOf(number)}`)
    await migrate(connection, undefined, folder)
    await owner.script(await distributedForms())
    for (const [name, sha256] of hashes)
      await owner.run(sql`update schema_migrations set sha256 = ${sha256} where name = ${name}`)
  } finally {
    await owner.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** The statements of a migration, with partitions where they create a table of tenants. */
function partitionedTables(text: string, columns: TenantColumns): string {
  const bytes = Buffer.from(text)
  return (parseSync(text).stmts ?? [])
    .map(({ stmt, stmt_location: start = 0, stmt_len: length }) => {
      const statement = bytes.subarray(start, length ? start + length : undefined).toString()
      const table = partOf(stmt as Part, 'CreateStmt')
      const name = table && nameOf(partOf(table, 'relation')!, 'relname')
      const column = name !== undefined && columns.get(name)
      if (!column) return `${statement};`
      const partitions = numbers.map(
        (number) => `create table ${schemaOf(number)}.${name} partition of ${name}
          for values with (modulus ${partitionsCount}, remainder ${number});`,
      )
      return `${statement} partition by hash (${column});${partitions.join('')}`
    })
    .join('')
}
