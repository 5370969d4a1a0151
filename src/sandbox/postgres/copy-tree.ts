import { constants } from 'node:fs'
import { chmod, copyFile, lchown, mkdir, readdir, readlink, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Owner } from './privileges.ts'

type CopyOptions = {
  /** The new owner of every entry of the copy. */
  owner?: Owner | undefined
  /** Whether the copy is world-readable; otherwise directories are private to the owner and files keep their mode. */
  readable?: boolean
}

/** Copies a directory to a new path, sharing blocks where the filesystem can; returns the number of entries. */
export async function copyTree(from: string, to: string, options: CopyOptions): Promise<number> {
  await mkdir(to, { mode: 0o700 })
  const entries = await readdir(from, { withFileTypes: true })
  const counts = await Promise.all(
    entries.map(async (entry) => {
      const [source, target] = [join(from, entry.name), join(to, entry.name)]
      if (entry.isDirectory()) return 1 + (await copyTree(source, target, options))
      if (entry.isSymbolicLink()) await symlink(await readlink(source), target)
      else await copyFile(source, target, constants.COPYFILE_FICLONE)
      if (options.readable && entry.isFile())
        await chmod(target, (await stat(source)).mode & 0o100 ? 0o755 : 0o644)
      if (options.owner) await lchown(target, options.owner.uid, options.owner.gid)
      return 1
    }),
  )
  if (options.owner) await lchown(to, options.owner.uid, options.owner.gid)
  if (options.readable) await chmod(to, 0o755)
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Returns the number of entries below a directory, as `copyTree` counts them. */
export async function countEntries(directory: string): Promise<number> {
  return (await readdir(directory, { recursive: true })).length
}
