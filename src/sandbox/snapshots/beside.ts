/** The directories that belong to a database and lie beside it: the journals of workers, and the copies of counters of guesses. */
import { cp, readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { journalsDirectory } from '#engines/transactions/journal/index'
import { type Config, guessDirectoryOf } from '#runtime/config'
import { makeDirectory } from '#runtime/make-directory'
import { newSnapshotId } from './shelf.ts'

export type BesideDirectory = {
  name: string
  path: string
  /** The shape of the names of its entries, and of the files in those that are directories. */
  entry: RegExp
  file: RegExp
}

export const besideDirectories = (config: Config): readonly BesideDirectory[] => [
  {
    name: 'journals',
    path: journalsDirectory(config),
    entry: /^[0-9a-f]{16}$/,
    // Not the sockets by which their workers hold them.
    file: /^(\d{16}\.journal|seen\.json)$/,
  },
  { name: 'guesses', path: guessDirectoryOf(config), entry: /^[0-9a-f-]+\.[0-9a-f-]+\.\w+$/, file: /^$/ },
]

const entriesOf = async ({ path, entry }: BesideDirectory): Promise<string[]> =>
  (await readdir(path).catch((): string[] => [])).filter((name) => entry.test(name)).sort()

/** Copies the entries of a directory below `to`. */
export async function copyBeside(directory: BesideDirectory, to: string): Promise<void> {
  await makeDirectory(to)
  for (const name of await entriesOf(directory))
    await cp(join(directory.path, name), join(to, name), {
      recursive: true,
      filter: (source) => basename(source) === name || directory.file.test(basename(source)),
    })
}

/** The entries that take the place of those of a directory. They wait in the directory itself, for a rename. */
export type BesidePlan = { name: string; entries: string[] }

const nextIn = ({ path }: BesideDirectory) => join(path, '.next')
const replacedIn = ({ path }: BesideDirectory) => join(path, '.replaced')

/** Copies the entries of a snapshot to where they wait for the swap. */
export async function prepareBeside(directory: BesideDirectory, from: string): Promise<BesidePlan> {
  await clearBeside(directory)
  await copyBeside({ ...directory, path: from }, nextIn(directory))
  const entries = await entriesOf({ ...directory, path: nextIn(directory) })
  return { name: directory.name, entries }
}

/** Puts the prepared entries in place of all others. It may be interrupted anywhere, and done again. */
export async function swapBeside(directory: BesideDirectory, { entries }: BesidePlan): Promise<void> {
  await makeDirectory(replacedIn(directory))
  const next = new Set(await readdir(nextIn(directory)).catch((): string[] => []))
  for (const name of await entriesOf(directory))
    if (next.has(name) || !entries.includes(name))
      await rename(join(directory.path, name), join(replacedIn(directory), `${name}-${newSnapshotId()}`))
  for (const name of next) await rename(join(nextIn(directory), name), join(directory.path, name))
  await clearBeside(directory)
}

/** Removes what an interrupted restore left. */
export async function clearBeside(directory: BesideDirectory): Promise<void> {
  for (const path of [nextIn(directory), replacedIn(directory)])
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
}
