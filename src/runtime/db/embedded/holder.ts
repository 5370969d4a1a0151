import { readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DataDirectory } from './data-directory.ts'

/** The address of the server: `host` is the directory of its unix socket (127.0.0.1 on Windows). */
export type ServerAddress = { host: string; port: number; user: string; database: string }

/** The record that a lock's holder publishes. Valid only while its flag is alive: a killed holder leaves it behind. */
export type Holder = {
  flag: string
  pid: number
  /** Whether the holder runs a server; `connection` is added when that server is ready. */
  serves: boolean
  connection?: ServerAddress
  alias?: string | undefined
}

export function lockDirectory(directory: DataDirectory): string {
  return join(directory.path, 'lock')
}

export async function readHolder(directory: DataDirectory): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(holderPath(directory), 'utf8')) as Holder
  } catch {
    return undefined
  }
}

export async function writeHolder(directory: DataDirectory, holder: Holder): Promise<void> {
  await writeFile(`${holderPath(directory)}.new`, `${JSON.stringify(holder)}\n`, { mode: 0o600 })
  await rename(`${holderPath(directory)}.new`, holderPath(directory))
}

export async function removeHolder(directory: DataDirectory): Promise<void> {
  await rm(holderPath(directory), { force: true })
}

/** Removes the lock's own directory, unless another process's flag is in it. */
export async function removeLockDirectory(directory: DataDirectory): Promise<void> {
  await rmdir(lockDirectory(directory)).catch(() => undefined)
}

function holderPath(directory: DataDirectory): string {
  return join(lockDirectory(directory), 'holder.json')
}
