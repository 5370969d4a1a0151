import { readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { EmbeddedPostgresError, USE_A_SERVER } from './errors.ts'

/** The unprivileged system user that PostgreSQL runs as when this process is root. */
export type Owner = { name: string; uid: number; gid: number }

/**
 * Returns `undefined` when this process is not root: PostgreSQL then runs as the same user. An existing cluster keeps its
 * owner, so that root can continue a cluster that an ordinary user created.
 */
export async function findOwner(cluster: string): Promise<Owner | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const existing = await stat(cluster).catch(() => undefined)
  if (existing && existing.uid !== 0)
    return { name: `uid ${existing.uid}`, uid: existing.uid, gid: existing.gid }
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '')
  // initdb and postgres refuse a uid without a user name, so an arbitrary number does not work.
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

/** Whether `owner` may read (or enter, for a directory) `path`, by the permission bits of it and of all its parents. */
export async function canReach(path: string, owner: Owner): Promise<boolean> {
  const entry = await stat(path)
  const shift = entry.uid === owner.uid ? 6 : entry.gid === owner.gid ? 3 : 0
  const granted = (entry.mode >> shift) & 0o7
  const needed = entry.isDirectory() ? 0o1 : 0o4
  if ((granted & needed) !== needed) return false
  const parent = dirname(path)
  return parent === path || canReach(parent, owner)
}
