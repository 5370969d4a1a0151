import { createHash } from 'node:crypto'
import { mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { makeDirectory } from '#runtime/make-directory'
import { DirectoryLockError } from './errors.ts'

export type Directory = {
  path: string
  /** An alias of the same directory, short enough for the path of a unix socket; used for sockets only. */
  shortPath: string
  /** The symbolic link behind the short path, if one was needed. */
  alias?: string
}

// sockaddr_un holds 107 bytes on Linux and 103 on macOS; the longest name of a socket takes 33, an alias 24.
const longestPathBytes = 70
const longestAliasBytes = 24

/** Opens a directory, and creates it if it is missing. */
export async function createDirectory(path: string): Promise<Directory> {
  const wanted = resolve(path)
  try {
    await makeDirectory(wanted)
    return await shorten(await realpath(wanted))
  } catch (error) {
    throw new DirectoryLockError(
      'UNUSABLE',
      `The directory ${wanted} cannot be used (${(error as Error).message}). Give another one with --data-dir.`,
      error,
    )
  }
}

/** Opens a directory that another process created; `undefined` when there is none to be reached. */
export async function findDirectory(path: string): Promise<Directory | undefined> {
  const found = await realpath(resolve(path)).catch(() => undefined)
  return found === undefined ? undefined : shorten(found)
}

/** Removes the alias of an open directory. */
export async function closeDirectory(directory: Directory): Promise<void> {
  if (directory.alias) await removeAlias(directory.alias, directory)
}

/** Removes an alias that was made for this directory; ignores any other path. */
export async function removeAlias(alias: string, directory: Directory): Promise<void> {
  const home = dirname(alias)
  if (basename(home).startsWith(aliasPrefix(directory.path))) await rm(home, { recursive: true, force: true })
}

async function shorten(path: string): Promise<Directory> {
  if (Buffer.byteLength(path) <= longestPathBytes || process.platform === 'win32')
    return { path, shortPath: path }
  const fits = Buffer.byteLength(tmpdir()) + longestAliasBytes <= longestPathBytes
  const home = await mkdtemp(join(fits ? tmpdir() : '/tmp', aliasPrefix(path)))
  const alias = join(home, 'd')
  await symlink(path, alias)
  return { path, shortPath: alias, alias }
}

function aliasPrefix(path: string): string {
  return `bezant-${createHash('sha256').update(path).digest('hex').slice(0, 8)}-`
}
