import { createHash } from 'node:crypto'
import { mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { makeDirectory } from '#runtime/make-directory'
import { EmbeddedPostgresError, USE_A_SERVER } from './errors.ts'

export type DataDirectory = {
  path: string
  /** An alias of the same directory, short enough for the path of a unix socket; used for sockets only. */
  shortPath: string
  /** The symbolic link behind the short path, if one was needed. */
  alias?: string
}

// sockaddr_un holds 107 bytes on Linux and 103 on macOS; the longest socket's name below takes 33, an alias 24.
const longestPathBytes = 70
const longestAliasBytes = 24

/** Creates the data directory if it is missing. */
export async function createDataDirectory(directory: string): Promise<DataDirectory> {
  const wanted = resolve(directory)
  try {
    await makeDirectory(wanted)
    return await shorten(await realpath(wanted))
  } catch (error) {
    throw new EmbeddedPostgresError(
      'UNUSABLE',
      `The data directory ${wanted} cannot be used (${(error as Error).message}). Give another one with --data-dir, ${USE_A_SERVER}.`,
      error,
    )
  }
}

/** Opens a data directory that another process made. */
export async function openDataDirectory(directory: string): Promise<DataDirectory> {
  const wanted = resolve(directory)
  const path = await realpath(wanted).catch((error) => {
    throw notRunning(wanted, error)
  })
  return shorten(path)
}

export async function closeDataDirectory(directory: DataDirectory): Promise<void> {
  if (directory.alias) await removeAlias(directory.alias, directory)
}

/** Removes an alias that was made for this directory; ignores any other path. */
export async function removeAlias(alias: string, directory: DataDirectory): Promise<void> {
  const home = dirname(alias)
  if (basename(home).startsWith(aliasPrefix(directory.path))) await rm(home, { recursive: true, force: true })
}

export function notRunning(path: string, cause?: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'NOT_RUNNING',
    `DATABASE_URL is not set, and no sandbox with its own database is running on ${path}. Set DATABASE_URL to a PostgreSQL server of your own, or start a sandbox there first.`,
    cause,
  )
}

async function shorten(path: string): Promise<DataDirectory> {
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
