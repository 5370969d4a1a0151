import { closeDirectory, createDirectory, type Directory, findDirectory } from './directory.ts'
import { acquireLock, findHolder } from './lock.ts'

export type { Directory } from './directory.ts'
export { DirectoryLockError } from './errors.ts'
export { removeFlagDirectory } from './holder.ts'

export type LockedDirectory = {
  directory: Directory
  /** Replaces the JSON that other processes can read with `readPublished`. */
  publish(content: unknown): Promise<void>
  release(): Promise<void>
}

/**
 * Locks a directory for this process until `release`, and creates it if it is missing. Throws `DirectoryLockError`,
 * `IN_USE` when another process holds it.
 */
export async function lockDirectory(path: string, published?: unknown): Promise<LockedDirectory> {
  const directory = await createDirectory(path)
  try {
    const lock = await acquireLock(directory, published)
    return {
      directory,
      publish: lock.publish,
      release: async () => {
        await lock.release()
        await closeDirectory(directory)
      },
    }
  } catch (error) {
    await closeDirectory(directory)
    throw error
  }
}

/** Whether a living process holds the lock of a directory. */
export async function isHeld(path: string): Promise<boolean> {
  return (await holderOf(path)) !== undefined
}

/** Returns the JSON that the holder of the lock publishes; `undefined` when no living process holds it. */
export async function readPublished(path: string): Promise<unknown> {
  return (await holderOf(path))?.published
}

async function holderOf(path: string) {
  const directory = await findDirectory(path)
  if (!directory) return undefined
  try {
    return await findHolder(directory)
  } finally {
    await closeDirectory(directory)
  }
}
