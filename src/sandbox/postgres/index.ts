import { rmdir } from 'node:fs/promises'
import {
  type Directory,
  type LockedDirectory,
  lockDirectory,
  removeFlagDirectory,
} from '#runtime/directory-lock/index'
import { findBinaries } from './binaries.ts'
import { clusterPath, prepareCluster, removeCluster } from './cluster.ts'
import type { PublishedServer, ServerAddress } from './join.ts'
import type { EmbeddedLog } from './log.ts'
import { type Exit, startPostmaster } from './postmaster.ts'
import { findOwner } from './privileges.ts'

export { hasCluster } from './cluster.ts'
export { EmbeddedPostgresError } from './errors.ts'
export { joinEmbeddedPostgres, type ServerAddress } from './join.ts'

type EmbeddedOptions = {
  dataDir: string
  /** Whether the data is temporary: `stop` deletes the cluster, and no commit waits for the disk. */
  ephemeral: boolean
  /** Connections that the server accepts; default: enough for one platform with its commands. */
  connectionsMax?: number | undefined
  log: EmbeddedLog
}

export type EmbeddedPostgres = {
  /** `host` is the directory of the server's unix socket (127.0.0.1 on Windows). */
  connection: ServerAddress
  /** Resolves when the server has ended; `expected` is false unless `stop` was called. */
  exited: Promise<Exit & { expected: boolean }>
  stop: () => Promise<void>
}

/**
 * Starts PostgreSQL on a data directory and holds the lock of the directory until `stop`. Throws `DirectoryLockError`,
 * `IN_USE` when another process holds it, and `EmbeddedPostgresError`.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const lock = await lockDirectory(options.dataDir, { serves: true } satisfies PublishedServer)
  try {
    return await startLocked(lock, options)
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function startLocked(
  lock: LockedDirectory,
  { ephemeral, connectionsMax, log }: EmbeddedOptions,
): Promise<EmbeddedPostgres> {
  const { directory } = lock
  const path = clusterPath(directory, ephemeral ? 'ephemeral' : 'persistent')
  const owner = await findOwner(path)
  const binaries = await findBinaries(owner)
  const cluster = await prepareCluster(directory, path, binaries, owner, log)
  const postmaster = await startPostmaster(cluster, binaries, log, connectionsMax)
  await lock.publish({ serves: true, connection: postmaster.connection } satisfies PublishedServer)

  let stopping: Promise<void> | undefined
  const exited = postmaster.exited.then((exit) => {
    const expected = stopping !== undefined
    if (!expected) log.error({ ...exit, cluster: cluster.path }, 'PostgreSQL ended unexpectedly')
    return { ...exit, expected }
  })
  const stop = async () => {
    await postmaster.stop()
    if (ephemeral) await removeCluster(cluster)
    await lock.release()
    if (ephemeral) await removeEmptied(directory)
  }
  return { connection: postmaster.connection, exited, stop: () => (stopping ??= stop()) }
}

/** Removes empty directories only: other files in the data directory are not the server's. */
async function removeEmptied(directory: Directory): Promise<void> {
  await removeFlagDirectory(directory)
  await rmdir(directory.path).catch(() => undefined)
}
