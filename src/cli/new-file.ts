import { type FileHandle, open } from 'node:fs/promises'
import { UsageError } from './command.ts'

/** Opens a new file that its owner alone reads. Throws a `UsageError` that ends in `advice` where the file exists. */
export const openNewFile = (path: string, advice: string): Promise<FileHandle> =>
  open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      error.code === 'EEXIST'
        ? `${path} exists already: ${advice}`
        : `${path} cannot be written: ${error.message}`,
    )
  })
