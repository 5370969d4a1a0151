/**
 * Limits a sandbox to its own database in `DATABASE_URL`: an empty one, or the one that this data directory initialized.
 * In any other, the sandbox's chains, which are not those that its blocks came from, would revert its history.
 */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Connection, openAsOwner } from '#runtime/db/db'
import { explainDatabase } from '#runtime/db/explain'
import { makeDirectory } from '#runtime/make-directory'
import { readContents } from './store.ts'

/** Returns the path of the file that identifies the database which this directory's sandbox initialized. */
const pathIn = (dataDir: string) => join(dataDir, 'database')

const unsetUrl = 'unset DATABASE_URL to use the embedded one'

type OwnDatabase = {
  /** Whether this directory's sandbox initialized it before. */
  isKnown: boolean
  /** Records that this directory's sandbox initializes it; must be called before any write to it. */
  claim(): Promise<void>
}

/** Checks the database without writing to it, and throws unless it is the sandbox's own. */
export async function requireOwnDatabase(connection: Connection, dataDir: string): Promise<OwnDatabase> {
  const database = openAsOwner(connection)
  const { identity, relations } = await readContents(database)
    .catch(explainDatabase(connection, unsetUrl))
    .finally(() => database.close())
  const begun = (await readFile(pathIn(dataDir), 'utf8').catch(() => '')).split('\n')
  if (begun.includes(identity)) return { isKnown: true, claim: async () => undefined }
  if (relations.length > 0)
    throw new Error(
      `DATABASE_URL names a database that the sandbox of ${dataDir} did not make: it holds ${relations.join(', ')}. A sandbox would undo the history of its chains. Give it an empty database, or ${unsetUrl}`,
    )
  return { isKnown: false, claim: () => noteDatabases(dataDir, [identity]) }
}

/** Records the identities that the database of this directory may have: two while a restore replaces it by another. */
export async function noteDatabases(dataDir: string, identities: readonly string[]): Promise<void> {
  await makeDirectory(dataDir)
  const path = pathIn(dataDir)
  await writeFile(`${path}.new`, identities.map((identity) => `${identity}\n`).join(''))
  await rename(`${path}.new`, path)
}
