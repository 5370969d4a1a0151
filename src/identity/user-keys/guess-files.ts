/**
 * Copies of the counters of guesses in a directory beside the database, one small file for each counter that has wrong guesses
 * or locks. They are synced before the guess is compared, so that a database restored from a backup gives no guess back to
 * who guesses through this directory. Writers hold the counter's row; a file is ahead of it at most.
 */
import { randomUUID } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDurableDirectory, syncDirectory } from '#runtime/make-directory'
import type { Guesses, GuessRef } from '../store/user-guesses.ts'

export type GuessFiles = {
  read(ref: GuessRef): Promise<Guesses | undefined>
  /** Resolves when the copy is on disk. */
  write(ref: GuessRef, state: Guesses): Promise<void>
}

/** Without a directory, nothing is copied. */
export function openGuessFiles(directory: string | undefined): GuessFiles {
  if (directory === undefined) return { read: async () => undefined, write: async () => undefined }
  const pathOf = ({ entityId, userId, kind }: GuessRef) => join(directory, `${entityId}.${userId}.${kind}`)
  return {
    read: async (ref) => {
      const text = await readFile(pathOf(ref), 'utf8').catch(absent)
      return text === undefined ? undefined : (JSON.parse(text) as Guesses)
    },
    write: async (ref, state) => {
      const path = pathOf(ref)
      if (state.counted === state.cleared && state.locks === 0) return rm(path, { force: true })
      await makeDurableDirectory(directory)
      // A writer whose connection was lost, and its row with it, may still be at it: each writes a file of its own.
      const written = `${path}.${randomUUID()}.new`
      try {
        const file = await open(written, 'wx', 0o600)
        try {
          await file.writeFile(JSON.stringify(state))
          await file.datasync()
        } finally {
          await file.close()
        }
        await rename(written, path)
      } catch (error) {
        await rm(written, { force: true }).catch(() => undefined)
        throw error
      }
      await syncDirectory(directory)
    },
  }
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
  return undefined
}
