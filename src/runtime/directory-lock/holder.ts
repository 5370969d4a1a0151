import { readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Directory } from './directory.ts'

/** The record that a lock's holder publishes. Valid only while its flag is alive: a killed holder leaves it behind. */
export type Holder = {
  flag: string
  pid: number
  alias?: string | undefined
  /** JSON of the holder for other processes, such as the address of its server. */
  published?: unknown
}

export function flagDirectory(directory: Directory): string {
  return join(directory.path, 'lock')
}

export async function readHolder(directory: Directory): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(holderPath(directory), 'utf8')) as Holder
  } catch {
    return undefined
  }
}

export async function writeHolder(directory: Directory, holder: Holder): Promise<void> {
  await writeFile(`${holderPath(directory)}.new`, `${JSON.stringify(holder)}\n`, { mode: 0o600 })
  await rename(`${holderPath(directory)}.new`, holderPath(directory))
}

export async function removeHolder(directory: Directory): Promise<void> {
  await rm(holderPath(directory), { force: true })
}

/** Removes the directory of the flags, unless another process's flag is in it. */
export async function removeFlagDirectory(directory: Directory): Promise<void> {
  await rmdir(flagDirectory(directory)).catch(() => undefined)
}

function holderPath(directory: Directory): string {
  return join(flagDirectory(directory), 'holder.json')
}
