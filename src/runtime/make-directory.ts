import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a directory and those above it that are missing; returns the highest one it made. Node's own recursive mkdir tries
 * for ever where a file system answers ENOENT to a name that it does not allow, as /proc does.
 */
export async function makeDirectory(path: string): Promise<string | undefined> {
  if (await isDirectory(path)) return undefined
  const above = dirname(path)
  const highest = above === path ? undefined : await makeDirectory(above)
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have made it a moment ago.
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
