import { readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { EmbeddedPostgresError, USE_A_SERVER } from './errors.ts'

/** The unprivileged system user that PostgreSQL runs as when this process is root. */
export type Owner = { name: string; uid: number; gid: number }

/**
 * `undefined` when this process is not root: PostgreSQL then runs as the same user. A cluster that exists keeps the
 * owner it has, so that what an ordinary user began can go on as root.
 */
export async function findOwner(cluster: string): Promise<Owner | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const existing = await stat(cluster).catch(() => undefined)
  if (existing && existing.uid !== 0)
    return { name: `uid ${existing.uid}`, uid: existing.uid, gid: existing.gid }
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '')
  // initdb and postgres refuse a uid that the system has no name for, so a made-up number will not do.
  for (const name of ['postgres', '_postgres', 'nobody']) {
    const fields = users
      .split('\n')
      .find((line) => line.startsWith(`${name}:`))
      ?.split(':')
    if (fields) return { name, uid: Number(fields[2]) >>> 0, gid: Number(fields[3]) >>> 0 }
  }
  throw new EmbeddedPostgresError(
    'UNUSABLE',
    `PostgreSQL refuses to run as root and this machine has neither a "postgres" nor a "nobody" user to run it as. Start as an ordinary user, ${USE_A_SERVER}.`,
  )
}

/** Whether `owner` may read (and enter, for a directory) `path`: the permission bits of it and of all above it. */
export async function canReach(path: string, owner: Owner): Promise<boolean> {
  const entry = await stat(path)
  const shift = entry.uid === owner.uid ? 6 : entry.gid === owner.gid ? 3 : 0
  const granted = (entry.mode >> shift) & 0o7
  const needed = entry.isDirectory() ? 0o1 : 0o4
  if ((granted & needed) !== needed) return false
  const parent = dirname(path)
  return parent === path || canReach(parent, owner)
}
