import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { access, open, readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Binaries } from './binaries.ts'
import { here, run } from './command.ts'
import { copyTree } from './copy-tree.ts'
import type { DataDirectory } from './data-directory.ts'
import type { EmbeddedLog } from './log.ts'
import { clusterName, endOrphans } from './orphans.ts'
import type { Owner } from './privileges.ts'
import type { Durability } from './settings.ts'
import { findTemplate } from './template.ts'

export type Cluster = {
  path: string
  /** The same directory by a name short enough for the path of the socket in it. */
  shortPath: string
  name: string
  durability: Durability
  owner: Owner | undefined
}

export const port = 5432

const persistentName = 'postgres'
const ephemeralPrefix = 'ephemeral-'
const draftSuffix = '.new'

/** Where the cluster is or will be. An ephemeral one stands beside a persistent one and never touches it. */
export function clusterPath(directory: DataDirectory, durability: Durability): string {
  const name = durability === 'persistent' ? persistentName : ephemeralPrefix + randomBytes(4).toString('hex')
  return join(directory.path, name)
}

/** Whether a data directory has a database that is kept. */
export const hasCluster = (dataDir: string): boolean => existsSync(join(dataDir, persistentName))

/** Makes a cluster ready to be started: whole, and with nothing running on it. The caller holds the lock. */
export async function prepareCluster(
  directory: DataDirectory,
  path: string,
  binaries: Binaries,
  owner: Owner | undefined,
  log: EmbeddedLog,
): Promise<Cluster> {
  await clearLeftovers(directory, log)
  const durability = basename(path) === persistentName ? 'persistent' : 'ephemeral'
  if (!(await exists(path))) await createCluster(path, durability, binaries, owner)
  const shortPath = join(directory.shortPath, basename(path))
  await endOrphans(path, socketIn(shortPath), log)
  return { path, shortPath, name: await clusterName(path), durability, owner }
}

export async function removeCluster(cluster: Cluster): Promise<void> {
  await removeTree(cluster.path)
}

/** Copies the template under another name first, so that a cluster is whole if it is there at all. */
async function createCluster(
  path: string,
  durability: Durability,
  binaries: Binaries,
  owner: Owner | undefined,
): Promise<void> {
  const draft = path + draftSuffix
  await copyTree(await findTemplate(binaries, owner), draft, { owner })
  if (durability === 'ephemeral') return rename(draft, path)
  // Commits are only as durable as the files beneath them, which were just copied, and their name.
  const args = ['-D', here(draft, owner), '--sync-only']
  await run({ program: binaries.initdb, args, cluster: draft, owner })
  await rename(draft, path)
  await syncDirectory(join(path, '..'))
}

/** What killed processes leave: half-copied clusters, and ephemeral ones with perhaps their server. */
async function clearLeftovers(directory: DataDirectory, log: EmbeddedLog): Promise<void> {
  for (const name of await readdir(directory.path)) {
    const path = join(directory.path, name)
    if (name.startsWith(ephemeralPrefix)) {
      await endOrphans(path, socketIn(join(directory.shortPath, name)), log)
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

async function syncDirectory(path: string): Promise<void> {
  // Windows neither can nor needs to.
  if (process.platform === 'win32') return
  const handle = await open(path)
  await handle.sync().finally(() => handle.close())
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
