import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Connection, openAsOwner, raw, sql } from '#runtime/db/db'
import { migrate } from '#runtime/db/migrate'

/** A migration that moves data, and the folder with its `before.sql` and `after.sql`. */
export type MigrationCase = { migrations: string; name: string; folder: string }

/**
 * Applies the migrations before that of the case to an empty database, fills it with `before.sql`, applies the migration, and runs
 * the queries of `after.sql`. Returns the queries that have no row, or one that is not true.
 */
export async function testMigration(connection: Connection, of: MigrationCase): Promise<string[]> {
  const applied = await mkdtemp(join(tmpdir(), 'bezant-migrations-'))
  const owner = openAsOwner(connection)
  const apply = async (names: readonly string[]) => {
    for (const name of names) await copyFile(join(of.migrations, name), join(applied, name))
    await migrate(connection, undefined, applied)
  }
  try {
    const names = await readdir(of.migrations)
    await apply(names.filter((name) => name < of.name))
    await owner.script(await readFile(join(of.folder, 'before.sql'), 'utf8'))
    await apply([of.name])
    const failed: string[] = []
    for (const query of queriesOf(await readFile(join(of.folder, 'after.sql'), 'utf8'))) {
      const rows = await owner.all<Record<string, unknown>>(sql`${raw(query)}`)
      const isTrue =
        rows.length > 0 && rows.every((row) => Object.values(row).every((value) => value === true))
      if (!isTrue) failed.push(query)
    }
    return failed
  } finally {
    await owner.close()
    await rm(applied, { recursive: true, force: true })
  }
}

/** The statements of a file, each of which ends with a semicolon at the end of a line. */
const queriesOf = (text: string): string[] =>
  text
    .replaceAll(/^\s*--.*$/gm, '')
    .split(/;[^\S\n]*$/m)
    .map((query) => query.trim())
    .filter((query) => query !== '')
