import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '#runtime/config'
import { DirectoryLockError, lockDirectory } from '#runtime/directory-lock/index'
import { makeDurableDirectory } from '#runtime/make-directory'

/** A journal's directory, held by this process alone until `release`. Its name is the worker's id. */
export type JournalDirectory = { id: string; path: string; release(): Promise<void> }

const idShape = /^[0-9a-f]{16}$/

/** The directory that holds the journals of this machine's workers. */
export const journalsDirectory = ({ dataDir, journalDir }: Config) => journalDir ?? join(dataDir, 'journals')

/** Locks a directory; `undefined` while another process holds it. */
export async function lockJournal(path: string, id: string): Promise<JournalDirectory | undefined> {
  try {
    const { release } = await lockDirectory(path)
    return { id, path, release }
  } catch (error) {
    if (error instanceof DirectoryLockError && error.code === 'IN_USE') return undefined
    throw error
  }
}

export async function listJournalIds(home: string): Promise<string[]> {
  const names = await readdir(home).catch((): string[] => [])
  return names.filter((name) => idShape.test(name)).sort()
}

export async function createJournal(home: string): Promise<JournalDirectory> {
  await makeDurableDirectory(home)
  for (;;) {
    const id = randomBytes(8).toString('hex')
    const path = join(home, id)
    await makeDurableDirectory(path)
    // Another worker may lock the new directory first; then the loop makes another one.
    const directory = await lockJournal(path, id)
    if (directory) return directory
  }
}
