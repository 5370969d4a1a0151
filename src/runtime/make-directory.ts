import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

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
