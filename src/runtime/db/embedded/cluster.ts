import { access, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
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

const directoryOf = { persistent: 'postgres', ephemeral: 'postgres-ephemeral' }

/** Makes the data directory's cluster ready to be started: whole, and with nothing running on it. */
export async function prepareCluster(
  directory: DataDirectory,
  durability: Durability,
  binaries: Binaries,
  owner: Owner | undefined,
  log: EmbeddedLog,
): Promise<Cluster> {
  await clearLeftovers(directory, log)
  const path = join(directory.path, directoryOf[durability])
  if (!(await exists(join(path, 'PG_VERSION')))) {
    const draft = `${path}.new`
    await copyTree(await findTemplate(binaries, owner), draft, { owner })
    if (durability === 'persistent') await sync(binaries, draft, owner)
    await rename(draft, path)
  }
  const shortPath = join(directory.shortPath, directoryOf[durability])
  await endOrphans(path, socketIn(shortPath), log)
  return { path, shortPath, name: await clusterName(path), durability, owner }
}

export async function removeCluster(cluster: Cluster): Promise<void> {
  await rm(cluster.path, { recursive: true, force: true, maxRetries: 5 })
}

export function socketIn(directory: string): string {
  return join(directory, `.s.PGSQL.${port}`)
}

/** What a killed process leaves: a half-copied cluster, and an ephemeral one with perhaps its server. */
async function clearLeftovers(directory: DataDirectory, log: EmbeddedLog): Promise<void> {
  for (const name of await readdir(directory.path)) {
    const path = join(directory.path, name)
    if (name === directoryOf.ephemeral) {
      await endOrphans(path, socketIn(join(directory.shortPath, name)), log)
    } else if (!Object.values(directoryOf).some((cluster) => name === `${cluster}.new`)) continue
    await rm(path, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Commits are only as durable as the files beneath them, and these were just copied. */
function sync(binaries: Binaries, cluster: string, owner: Owner | undefined): Promise<void> {
  const at = { cluster, owner }
  return run({ program: binaries.initdb, args: ['-D', here(cluster, owner), '--sync-only'], ...at })
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
