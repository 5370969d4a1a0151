/**
 * The directory of the snapshots, one below it for each. A snapshot exists once its `manifest.json` does, which is written last and
 * removed first; a directory without one is what an interrupted process left, with its database, which bears the same id.
 */
import { randomBytes } from 'node:crypto'
import { open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory, syncDirectory } from '#runtime/make-directory'
import { version } from '#runtime/version'

type SnapshotHead = { blockchain: string; number: number; hash: string }

export type Manifest = {
  /** The version of these files. */
  format: number
  id: string
  /** As the user named it, or `@fresh`; `@auto` of one that was saved before a restore. */
  name: string
  /** The order in which snapshots were saved. */
  sequence: number
  /** Business time. */
  savedDate: string
  /** The version of the program, and the last migration of its tables. */
  version: string
  tables: string
  chains: SnapshotHead[]
  /** The size of its files and its database. */
  bytes: number
}

export const snapshotFormat = 1
export const freshName = '@fresh'
export const autoName = '@auto'
/** The version of the program that saves, and reads again what it saved. */
export const ownVersion = version

export type SnapshotShelf = {
  path: string
  directoryOf(id: string): string
  list(): Promise<Manifest[]>
  draft(): Promise<string>
  /** A new directory for the rows of a snapshot that is exported, which `clearExports` removes after an interrupted one. */
  exportDirectory(): string
  clearExports(): Promise<void>
  keep(manifest: Manifest): Promise<void>
  /** Lets the snapshot exist no more; its files and database are left over. */
  forget(id: string): Promise<void>
  /** The ids of interrupted and forgotten snapshots. */
  leftovers(): Promise<string[]>
  /** Removes the files of one of those. */
  clear(id: string): Promise<void>
}

/** The name of the database of a snapshot. */
export const databaseOf = (id: string) => `bezant_snapshot_${id}`

const idShape = /^[0-9a-f]{16}$/
const manifestName = 'manifest.json'
const exportPrefix = 'export-'

export const newSnapshotId = () => randomBytes(8).toString('hex')

/** The number of the snapshot that is saved next. */
export const nextSequence = async (shelf: SnapshotShelf): Promise<number> =>
  ((await shelf.list()).at(-1)?.sequence ?? 0) + 1

export function openShelf(path: string, isDurable: boolean): SnapshotShelf {
  const directoryOf = (id: string) => join(path, id)
  const ids = async () => (await readdir(path).catch((): string[] => [])).filter((name) => idShape.test(name))
  const read = async (id: string) => {
    const text = await readFile(join(directoryOf(id), manifestName), 'utf8').catch(() => undefined)
    return text === undefined ? undefined : (JSON.parse(text) as Manifest)
  }
  return {
    path,
    directoryOf,
    list: async () => {
      const found = await Promise.all((await ids()).map(read))
      return found
        .filter((manifest) => manifest !== undefined)
        .sort((one, other) => one.sequence - other.sequence)
    },
    draft: async () => {
      const id = newSnapshotId()
      await makeDirectory(directoryOf(id))
      return id
    },
    exportDirectory: () => join(path, `${exportPrefix}${newSnapshotId()}`),
    clearExports: async () => {
      for (const name of await readdir(path).catch((): string[] => []))
        if (name.startsWith(exportPrefix)) await rm(join(path, name), { recursive: true, force: true })
    },
    keep: async (manifest) => {
      const directory = directoryOf(manifest.id)
      if (isDurable) await syncTree(directory)
      await writeWhole(join(directory, manifestName), JSON.stringify(manifest), isDurable)
    },
    forget: async (id) => {
      await unlink(join(directoryOf(id), manifestName))
      if (isDurable) await syncDirectory(directoryOf(id))
    },
    leftovers: async () => {
      const all = await ids()
      const kept = await Promise.all(all.map(read))
      return all.filter((_, index) => kept[index] === undefined)
    },
    clear: (id) => rm(directoryOf(id), { recursive: true, force: true, maxRetries: 3 }),
  }
}

/** Writes a file under a temporary name, and renames it when it is complete. */
export async function writeWhole(path: string, text: string, isDurable: boolean): Promise<void> {
  const file = await open(`${path}.new`, 'w', 0o600)
  try {
    await file.writeFile(text)
    if (isDurable) await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.new`, path)
  if (isDurable) await syncDirectory(join(path, '..'))
}

/** Syncs every file and directory below a path. */
async function syncTree(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const found = join(path, entry.name)
    if (entry.isDirectory()) await syncTree(found)
    else if (entry.isFile()) {
      const file = await open(found, 'r+')
      await file.sync().finally(() => file.close())
    }
  }
  await syncDirectory(path)
}

/** The size of all files below a path. */
export async function sizeOfTree(path: string): Promise<number> {
  const entries = await readdir(path, { withFileTypes: true })
  const sizes = await Promise.all(
    entries.map(async (entry) => {
      const found = join(path, entry.name)
      return entry.isDirectory() ? sizeOfTree(found) : (await stat(found)).size
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
