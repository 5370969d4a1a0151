import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { access, readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Directory } from '#runtime/directory-lock/index'
import { syncDirectory } from '#runtime/make-directory'
import type { Binaries } from './binaries.ts'
import { here, run } from './command.ts'
import { copyTree } from './copy-tree.ts'
import { clusterName, endLeftovers } from './leftovers.ts'
import type { EmbeddedLog } from './log.ts'
import type { Owner } from './privileges.ts'
import type { Durability } from './settings.ts'
import { findTemplate } from './template.ts'

export type Cluster = {
  path: string
  /** An alias of the same directory, short enough for the path of the socket in it. */
  shortPath: string
  name: string
  durability: Durability
  owner: Owner | undefined
}

export const port = 5432

const persistentName = 'postgres'
const ephemeralPrefix = 'ephemeral-'
const draftSuffix = '.new'

/** Returns the path of a cluster. An ephemeral cluster is placed beside a persistent one and never touches it. */
export function clusterPath(directory: Directory, durability: Durability): string {
  const name = durability === 'persistent' ? persistentName : ephemeralPrefix + randomBytes(4).toString('hex')
  return join(directory.path, name)
}

/** Whether a data directory has a persistent database. */
export const hasCluster = (dataDir: string): boolean => existsSync(join(dataDir, persistentName))

/** Prepares a cluster for a start: complete, and with no process running on it. The caller holds the lock. */
export async function prepareCluster(
  directory: Directory,
  path: string,
  binaries: Binaries,
  owner: Owner | undefined,
  log: EmbeddedLog,
): Promise<Cluster> {
  await clearLeftovers(directory, log)
  const durability = basename(path) === persistentName ? 'persistent' : 'ephemeral'
  if (!(await exists(path))) await createCluster(path, durability, binaries, owner)
  const shortPath = join(directory.shortPath, basename(path))
  await endLeftovers(path, socketIn(shortPath), log)
  return { path, shortPath, name: await clusterName(path), durability, owner }
}

export async function removeCluster(cluster: Cluster): Promise<void> {
  await removeTree(cluster.path)
}

/** Copies the template under a temporary name and renames it, so that a cluster that exists is complete. */
async function createCluster(
  path: string,
  durability: Durability,
  binaries: Binaries,
  owner: Owner | undefined,
): Promise<void> {
  const draft = path + draftSuffix
  await copyTree(await findTemplate(binaries, owner), draft, { owner })
  if (durability === 'ephemeral') return rename(draft, path)
  // Commits are only as durable as the copied files and the directory entry of the cluster, so both are synced.
  const args = ['-D', here(draft, owner), '--sync-only']
  await run({ program: binaries.initdb, args, cluster: draft, owner })
  await rename(draft, path)
  await syncDirectory(join(path, '..'))
}

/** Removes leftovers of killed processes: half-copied clusters, and ephemeral ones, whose server may still run. */
async function clearLeftovers(directory: Directory, log: EmbeddedLog): Promise<void> {
  for (const name of await readdir(directory.path)) {
    const path = join(directory.path, name)
    if (name.startsWith(ephemeralPrefix)) {
      await endLeftovers(path, socketIn(join(directory.shortPath, name)), log)
      await removeTree(path)
    } else if (name === persistentName + draftSuffix) {
      await removeTree(path)
    }
  }
}

function socketIn(directory: string): string {
  return join(directory, `.s.PGSQL.${port}`)
}

async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 5 })
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
