/**
 * Which database of `DATABASE_URL` a sandbox may write to: one that holds nothing, or the one that this data directory
 * began. On any other the sandbox's chains, which are not those that its blocks came from, would take its history back.
 */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Connection, openAsOwner } from '#runtime/db/db'
import { explainDatabase } from '#runtime/db/explain'
import { makeDirectory } from '#runtime/make-directory'
import { readContents } from './store.ts'

/** Named after what is in it: the database that this directory's sandbox began. */
const pathIn = (dataDir: string) => join(dataDir, 'database')

const unsetUrl = 'unset DATABASE_URL to use the embedded one'

export type OwnDatabase = {
  /** Whether this directory's sandbox has begun it before. */
  isKnown: boolean
  /** Notes that this directory's sandbox begins it: to be called before anything is written to it. */
  claim(): Promise<void>
}

/** Looks at the database without writing to it, and throws unless it is the sandbox's own. */
export async function requireOwnDatabase(connection: Connection, dataDir: string): Promise<OwnDatabase> {
  const database = openAsOwner(connection)
  const { identity, relations } = await readContents(database)
    .catch(explainDatabase(connection, unsetUrl))
    .finally(() => database.close())
  const begun = (await readFile(pathIn(dataDir), 'utf8').catch(() => '')).trim()
  if (begun === identity) return { isKnown: true, claim: async () => undefined }
  if (relations.length > 0)
    throw new Error(
      `DATABASE_URL names a database that the sandbox of ${dataDir} did not make: it holds ${relations.join(', ')}. A sandbox would undo the history of its chains. Give it an empty database, or ${unsetUrl}`,
    )
  return { isKnown: false, claim: () => note(dataDir, identity) }
}

async function note(dataDir: string, identity: string): Promise<void> {
  await makeDirectory(dataDir)
  const path = pathIn(dataDir)
  await writeFile(`${path}.new`, `${identity}\n`)
  await rename(`${path}.new`, path)
}
