import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { EmbeddedPostgresError } from './errors.ts'

export type DataDirectory = {
  path: string
  /** The same directory by a name short enough for the path of a unix socket. */
  shortPath: string
  /** Removes the short name, if one had to be made. */
  forget: () => Promise<void>
}

// sockaddr_un holds 107 bytes on Linux and 103 on macOS; the longest name bound below is 40 bytes.
const longestPathBytes = 60

/** Makes the directory if asked to (else it must exist) and finds a short name for it. */
export async function openDataDirectory(directory: string, create: boolean): Promise<DataDirectory> {
  const wanted = resolve(directory)
  try {
    if (create) await mkdir(wanted, { recursive: true, mode: 0o700 })
    const path = await realpath(wanted)
    if (Buffer.byteLength(path) <= longestPathBytes || process.platform === 'win32') {
      return { path, shortPath: path, forget: async () => {} }
    }
    return await alias(path)
  } catch (error) {
    const code = create ? 'UNUSABLE' : 'NOT_RUNNING'
    const reason = error instanceof Error ? error.message : String(error)
    throw new EmbeddedPostgresError(
      code,
      create
        ? `The data directory ${wanted} cannot be used: ${reason}. Give another one with --data-dir.`
        : `No sandbox is running on ${wanted}: ${reason}.`,
      error,
    )
  }
}

/** Removes the short names that killed processes left for this directory; only the holder of its lock may. */
export async function sweepAliases(directory: DataDirectory): Promise<void> {
  const prefix = aliasPrefix(directory.path)
  for (const name of await readdir(tmpdir())) {
    const path = join(tmpdir(), name)
    if (name.startsWith(prefix) && !directory.shortPath.startsWith(path)) {
      await rm(path, { recursive: true, force: true }).catch(() => undefined)
    }
  }
}

async function alias(path: string): Promise<DataDirectory> {
  const home = await mkdtemp(join(tmpdir(), aliasPrefix(path)))
  const shortPath = join(home, 'd')
  await symlink(path, shortPath)
  return { path, shortPath, forget: () => rm(home, { recursive: true, force: true }) }
}

function aliasPrefix(path: string): string {
  return `bezant-${createHash('sha256').update(path).digest('hex').slice(0, 8)}-`
}
