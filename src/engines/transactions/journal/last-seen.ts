import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory } from '#runtime/make-directory'
import type { DatabaseIdentity, JournalPlace } from '../store/journals.ts'
import { JournalError, journalGone } from './segments.ts'

/**
 * The last database state that a worker saw, saved beside its journal: a database that is behind it was restored, even when
 * the worker had sent nothing since. A journal of another installation must not be merged. `journals`: all that the database had,
 * because a restored copy does not know those of workers that first ran after it was made.
 */
export type LastSeen = {
  installation: string
  incarnation: string
  logPosition: bigint
  journals: readonly JournalPlace[]
}

const pathOf = (directory: string) => join(directory, 'seen.json')

export async function readLastSeen(directory: string): Promise<LastSeen | undefined> {
  const text = await readFile(pathOf(directory), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  try {
    // Earlier versions wrote no journals.
    const { installation, incarnation, logPosition, journals = [] } = JSON.parse(text) as SavedSeen
    return { installation, incarnation, logPosition: BigInt(logPosition), journals }
  } catch {
    throw new JournalError(
      'journal-damaged',
      `${pathOf(directory)} is damaged: restore it from a copy; without one, remove it if the database was not restored from a backup since, otherwise declare the journal lost`,
    )
  }
}

type SavedSeen = {
  installation: string
  incarnation: string
  logPosition: string
  journals?: JournalPlace[]
}

type DatabaseState = Pick<DatabaseIdentity, 'installation' | 'live' | 'logPosition'> &
  Pick<LastSeen, 'journals'>

export const lastSeenOf = ({ installation, live, logPosition, journals }: DatabaseState): LastSeen => ({
  installation,
  incarnation: live,
  logPosition,
  journals,
})

/** Throws `journal-gone` when the directory was removed. */
export async function writeLastSeen(directory: string, seen: LastSeen): Promise<void> {
  const path = pathOf(directory)
  const file = await open(`${path}.new`, 'w', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? journalGone(directory) : error
  })
  try {
    await file.writeFile(JSON.stringify({ ...seen, logPosition: seen.logPosition.toString() }))
    await file.datasync()
  } finally {
    await file.close()
  }
  await rename(`${path}.new`, path)
  await syncDirectory(directory)
}

/** Whether the database is behind the state that was seen. */
export const wasRolledBack = (identity: DatabaseIdentity, seen: LastSeen | undefined): boolean =>
  seen !== undefined && seen.incarnation === identity.live && identity.logPosition < seen.logPosition
