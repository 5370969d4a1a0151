import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { succeedOnce } from '#runtime/scheduling/memoize'
import { type Connection, type Database, type Db, openAsOwner, sql, sqlState } from './db.ts'
import { someRelations } from './relations.ts'
import { refuseStranger, repairGrants, repairRole, requireRights } from './rights.ts'

const ownFolder = fileURLToPath(new URL('../../../migrations/', import.meta.url))

/** The advisory lock shared by all processes that might migrate the same database at once. */
const migrationLock = 4_207_733_001

/**
 * Applies the numbered SQL files that are not yet applied, each in its own database transaction.
 * An applied file must never change: its hash is stored and compared. Returns the names applied. A database of another
 * program is refused before anything is written.
 * A user who does not own the tables can call it too, as long as there is nothing to apply. `repaired` gets each right of
 * the program's role that was missing and is there again. `folder` is another one only where migrations are tested.
 */
export async function migrate(
  connection: Connection,
  repaired: (what: string) => void = () => undefined,
  folder = ownFolder,
): Promise<string[]> {
  const database = openAsOwner(connection)
  try {
    const files = folder === ownFolder ? await listFiles() : await filesIn(folder)
    const before = await requireKnown(database, files)
    const made = await repairRole(database)
    // A new database never had the role: there is nothing to tell.
    if (before.size > 0) for (const what of made) repaired(what)
    const applied: string[] = []
    const texts: string[] = []
    for (const name of files) {
      const text = await readFile(join(folder, name), 'utf8')
      texts.push(text)
      const sha256 = createHash('sha256').update(text).digest('hex')
      if (isApplied(before, name, sha256)) continue
      if (await apply(database, name, sha256, text)) applied.push(name)
    }
    for (const what of await repairGrants(database, texts)) repaired(what)
    await requireRights(database)
    return applied
  } catch (error) {
    throw sqlState(error) === insufficientPrivilege ? notOwner(error) : error
  } finally {
    await database.close()
  }
}

/** The migrations of this version. Read once: an upgrade in place puts those of the next version beside a running process. */
const listFiles = succeedOnce(() => filesIn(ownFolder))

/** Triggers and keys in the form that a distributed server needs: SQL that is safe to repeat. */
export const distributedForms = (): Promise<string> => readFile(join(ownFolder, 'distributed.sql'), 'utf8')

/** The name of the last migration of this version: it stands for the tables that this version has. */
export const latestMigration = async (): Promise<string> => (await listFiles()).at(-1) ?? ''

const filesIn = async (folder: string) =>
  (await readdir(folder)).filter((name) => /^\d{4}_.*\.sql$/.test(name)).sort()

/** Throws when this version cannot migrate the database: its tables are of a newer version, or of another program. */
export async function requireKnownTables(connection: Connection): Promise<void> {
  const database = openAsOwner(connection)
  try {
    await requireKnown(database, await listFiles())
  } finally {
    await database.close()
  }
}

/** Throws unless the database has the tables of this version, for commands that do not migrate. */
export async function requireTables(connection: Connection): Promise<void> {
  const database = openAsOwner(connection)
  try {
    const files = await listFiles()
    const applied = await requireKnown(database, files)
    const missing = files.filter((name) => !applied.has(name))
    if (missing.length === 0) return await requireRights(database)
    throw new Error(
      `the database lacks the tables of this version (${missing.length} of ${files.length} migrations are not applied): run "bezant migrate"`,
    )
  } finally {
    await database.close()
  }
}

/** Returns the hash of each applied migration; throws if this version does not know one of them. */
async function requireKnown(db: Db, files: readonly string[]): Promise<Map<string, string>> {
  await refuseForeign(db)
  await refuseStranger(db)
  const applied = await hashesOfApplied(db)
  refuseNewer(applied, files)
  return applied
}

/** Throws if the database is another program's. Uses one statement: between two, another process may create our tables. */
async function refuseForeign(db: Db): Promise<void> {
  const { name, isOurs, relations } = await db.one<{ name: string; isOurs: boolean; relations: string[] }>(
    // Other programs name a table schema_migrations too.
    sql`select current_database() as name, ${someRelations} as relations, exists (select 1 from pg_attribute
      where attrelid = to_regclass('schema_migrations') and attname = 'sha256') as is_ours`,
  )
  if (isOurs || relations.length === 0) return
  throw new Error(
    `the database ${name} is of another program: it holds ${relations.join(', ')}, and no tables of Bezant. Name an empty database in DATABASE_URL`,
  )
}

/** The applied migrations that this version does not have, because a newer version was here. */
export const unknownMigrations = async (db: Db): Promise<string[]> =>
  unknownAmong(await hashesOfApplied(db), await listFiles())

const unknownAmong = (applied: ReadonlyMap<string, string>, files: readonly string[]): string[] =>
  [...applied.keys()].filter((name) => !files.includes(name)).sort()

function refuseNewer(applied: ReadonlyMap<string, string>, files: readonly string[]): void {
  const unknown = unknownAmong(applied, files)
  if (unknown.length === 0) return
  // Numbers only rise from release to release.
  const last = files.at(-1) ?? ''
  if (unknown.some((name) => name < last))
    throw new Error(
      `the database has migrations of before the first release, such as ${unknown[0]}, and no version reads their tables: name an empty database in DATABASE_URL. A sandbox begins anew once its data directory (.bezant) is deleted`,
    )
  throw new Error(
    `the database has the migration ${unknown.join(', ')}, which this version does not know: a newer version was here. Run that version, or restore a backup that was made before it`,
  )
}

/** Returns the hash of each applied migration. */
async function hashesOfApplied(db: Db): Promise<Map<string, string>> {
  const { exists } = await db.one<{ exists: boolean }>(
    sql`select to_regclass('schema_migrations') is not null as exists`,
  )
  if (!exists) return new Map()
  const rows = await db.all<{ name: string; sha256: string }>(sql`select name, sha256 from schema_migrations`)
  return new Map(rows.map(({ name, sha256 }) => [name, sha256]))
}

function isApplied(before: ReadonlyMap<string, string>, name: string, sha256: string): boolean {
  const known = before.get(name)
  if (known !== undefined && known !== sha256)
    throw new Error(
      `migration ${name} was changed after it was applied: restore it and add a new file instead`,
    )
  return known !== undefined
}

/** The role is there by now, and PostgreSQL refuses its creation to users who may create none before it looks for it. */
const creationOfRole = /^do \$\$ begin\s+create role bezant_runtime nologin;[\s\S]*?^end \$\$;$/m

/** Applies one migration; returns false when another process applied it meanwhile. */
const apply = (database: Database, name: string, sha256: string, text: string) =>
  database.tx(async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock(${migrationLock})`)
    await tx.script(`create table if not exists schema_migrations (
      name text primary key, sha256 text not null, applied_at timestamptz not null default now())`)
    if (isApplied(await hashesOfApplied(tx), name, sha256)) return false
    await tx.script(text.replace(creationOfRole, ''))
    await tx.run(sql`insert into schema_migrations (name, sha256) values (${name}, ${sha256})`)
    return true
  })

const insufficientPrivilege = '42501'

const notOwner = (error: unknown) =>
  new Error(
    `the database has to be brought to the tables of this version by who owns them (${(error as Error).message}): run "bezant migrate" with that user in DATABASE_URL`,
    { cause: error },
  )
