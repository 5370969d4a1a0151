import { mkdir, open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * Creates a directory and its missing parents; returns the highest one created. Node's own recursive mkdir never ends
 * where a file system answers ENOENT to a name that it does not allow, as /proc does.
 */
export async function makeDirectory(path: string): Promise<string | undefined> {
  if (await isDirectory(path)) return undefined
  const above = dirname(path)
  const highest = above === path ? undefined : await makeDirectory(above)
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have created it concurrently.
    if (!(await isDirectory(path))) throw error
    return highest
  }
  return highest ?? path
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

/** Syncs a directory: the name of a new file is on disk only after that. */
export async function syncDirectory(path: string): Promise<void> {
  // Windows cannot sync directories and does not need to.
  if (process.platform === 'win32') return
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Makes a directory whose name is on the disk when this resolves. */
export async function makeDurableDirectory(path: string): Promise<void> {
  const made = await makeDirectory(path)
  if (made !== undefined) await syncDirectory(join(path, '..'))
}
