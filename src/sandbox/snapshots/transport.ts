import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { ApiError } from '#lib/errors'
import { sqlState } from '#runtime/db/db'
import { connectionTo, withMaintenance } from './maintenance.ts'
import { damaged, packSnapshot, unpackSnapshot } from './pack.ts'
import { readRows, writeRows } from './rows.ts'
import { databaseOf, type Manifest, nextSequence } from './shelf.ts'
import { readRootKeyOf, type StateParts, sizeOfState } from './state.ts'

const rootKeyBytes = 32

const rowsIn = (directory: string) => join(directory, 'rows')

const insufficientPrivilege = '42501'

const mayNotImport = () =>
  new ApiError(
    'snapshotConflict',
    'An import fills tables past their triggers, which only a superuser of the server in DATABASE_URL may: import as one, or unset DATABASE_URL to use the embedded server.',
  )

/** Packs a snapshot into one file, with the rows of its database. */
export async function exportState({ connection, shelf }: StateParts, manifest: Manifest): Promise<Readable> {
  const directory = shelf.exportDirectory()
  await writeRows(connectionTo(connection, databaseOf(manifest.id)), join(rowsIn(directory), 'database'))
  return packSnapshot(manifest, [shelf.directoryOf(manifest.id), rowsIn(directory)], () =>
    rm(directory, { recursive: true, force: true }),
  )
}

/** Makes a snapshot of this sandbox from an exported one. `admit` throws for one that does not fit. */
export async function importState(
  state: StateParts,
  bytes: Buffer,
  name: string,
  admit: (manifest: Manifest) => Promise<void>,
): Promise<Manifest> {
  const { connection, config, shelf } = state
  const id = await shelf.draft()
  const directory = shelf.directoryOf(id)
  const found = await unpackSnapshot(bytes, directory, admit)
  const rootKey = await readRootKeyOf(directory).catch(() => {
    throw damaged('its root key is missing')
  })
  if (rootKey.length !== rootKeyBytes) throw damaged('its root key is not whole')
  if (config.rootKeys?.every((key) => !rootKey.equals(key)))
    throw new ApiError(
      'snapshotConflict',
      'The snapshot was sealed with another root key, and that of this sandbox is set by BEZANT_ROOT_KEY: unset it.',
    )
  const rows = join(directory, 'database')
  await withMaintenance(connection, (maintenance) => maintenance.create(databaseOf(id)))
  await readRows(connectionTo(connection, databaseOf(id)), rows).catch((error: Error) => {
    if (sqlState(error) === insufficientPrivilege) throw mayNotImport()
    throw damaged(error.message.split('\n')[0]!)
  })
  await rm(rows, { recursive: true })
  const bytesOfAll = await sizeOfState(state, id, databaseOf(id))
  const manifest = { ...found, id, name, sequence: await nextSequence(shelf), bytes: bytesOfAll }
  await shelf.keep(manifest)
  return manifest
}
