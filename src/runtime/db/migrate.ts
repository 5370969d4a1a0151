import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type Database, sql } from './db.ts'

const folder = fileURLToPath(new URL('../../../migrations/', import.meta.url))

/** One number for all processes that might migrate the same database at once. */
const migrationLock = 4_207_733_001

/**
 * Applies the numbered SQL files that this database has not seen, each in its own database transaction.
 * An applied file must never change: its hash is kept and compared. Returns the names applied.
 */
export async function migrate(database: Database): Promise<string[]> {
  await database.script(`create table if not exists schema_migrations (
    name text primary key, sha256 text not null, applied_at timestamptz not null default now())`)
  const files = (await readdir(folder)).filter((name) => /^\d{4}_.*\.sql$/.test(name)).sort()
  const applied: string[] = []
  for (const name of files) {
    const text = await readFile(folder + name, 'utf8')
    if (await applyOnce(database, name, text)) applied.push(name)
  }
  return applied
}

async function applyOnce(database: Database, name: string, text: string): Promise<boolean> {
  const sha256 = createHash('sha256').update(text).digest('hex')
  return database.tx(async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock(${migrationLock})`)
    const before = await tx.maybe<{ sha256: string }>(
      sql`select sha256 from schema_migrations where name = ${name}`,
    )
    if (before && before.sha256 !== sha256) {
      throw new Error(
        `migration ${name} was changed after it was applied: restore it and add a new file instead`,
      )
    }
    if (before) return false
    await tx.script(text)
    await tx.run(sql`insert into schema_migrations (name, sha256) values (${name}, ${sha256})`)
    return true
  })
}
