import { rmdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { findBinaries } from './binaries.ts'
import { clusterPath, prepareCluster, removeCluster } from './cluster.ts'
import {
  closeDataDirectory,
  createDataDirectory,
  type DataDirectory,
  notRunning,
  openDataDirectory,
} from './data-directory.ts'
import { removeLockDirectory, type ServerAddress } from './holder.ts'
import { acquireLock, findHolder, type Lock } from './lock.ts'
import type { EmbeddedLog } from './log.ts'
import { type Exit, startPostmaster } from './postmaster.ts'
import { findOwner } from './privileges.ts'

export { hasCluster } from './cluster.ts'
export type { EmbeddedErrorCode } from './errors.ts'
export { EmbeddedPostgresError } from './errors.ts'
export type { ServerAddress } from './holder.ts'
export type { EmbeddedLog } from './log.ts'

export type EmbeddedOptions = {
  dataDir: string
  /** Whether the data is temporary: `stop` deletes the cluster, and no commit waits for the disk. */
  ephemeral: boolean
  log: EmbeddedLog
}

export type EmbeddedPostgres = {
  /** `host` is the directory of the server's unix socket (127.0.0.1 on Windows). */
  connection: ServerAddress
  /** Resolves when the server has ended; `expected` is false unless `stop` was called. */
  exited: Promise<Exit & { expected: boolean }>
  stop: () => Promise<void>
}

const joinMs = 30_000

/**
 * Starts PostgreSQL on a data directory and holds its lock until `stop`. Throws `EmbeddedPostgresError`, `IN_USE`
 * when another process holds the directory.
 */
export function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  return locked(options.dataDir, true, (directory, lock) => startLocked(directory, lock, options))
}

/** Holds the lock of a data directory whose database is elsewhere. */
export function holdDataDirectory({
  dataDir,
}: {
  dataDir: string
}): Promise<{ release: () => Promise<void> }> {
  return locked(dataDir, false, async (directory, lock) => ({
    release: async () => {
      await lock.release()
      await closeDataDirectory(directory)
    },
  }))
}

/**
 * Returns the connection to the server of the process that holds the data directory; waits while it starts. Throws
 * `NOT_RUNNING` when there is none.
 */
export async function joinEmbeddedPostgres({ dataDir }: { dataDir: string }): Promise<ServerAddress> {
  const directory = await openDataDirectory(dataDir)
  try {
    const deadline = performance.now() + joinMs
    while (performance.now() < deadline) {
      const holder = await findHolder(directory)
      if (!holder?.serves) break
      if (holder.connection) return holder.connection
      await sleep(20)
    }
    throw notRunning(directory.path)
  } finally {
    await closeDataDirectory(directory)
  }
}

/** Runs `work` while holding the lock; the lock stays held if `work` succeeds. */
async function locked<Result>(
  dataDir: string,
  serves: boolean,
  work: (directory: DataDirectory, lock: Lock) => Promise<Result>,
): Promise<Result> {
  const directory = await createDataDirectory(dataDir)
  try {
    const lock = await acquireLock(directory, serves)
    try {
      return await work(directory, lock)
    } catch (error) {
      await lock.release()
      throw error
    }
  } catch (error) {
    await closeDataDirectory(directory)
    throw error
  }
}

async function startLocked(
  directory: DataDirectory,
  lock: Lock,
  options: EmbeddedOptions,
): Promise<EmbeddedPostgres> {
  const { ephemeral, log } = options
  const path = clusterPath(directory, ephemeral ? 'ephemeral' : 'persistent')
  const owner = await findOwner(path)
  const binaries = await findBinaries(owner)
  const cluster = await prepareCluster(directory, path, binaries, owner, log)
  const postmaster = await startPostmaster(cluster, binaries, log)
  await lock.publish(postmaster.connection)

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
    await closeDataDirectory(directory)
  }
  return { connection: postmaster.connection, exited, stop: () => (stopping ??= stop()) }
}

/** Removes empty directories only: other files in the data directory belong to others. */
async function removeEmptied(directory: DataDirectory): Promise<void> {
  await removeLockDirectory(directory)
  await rmdir(directory.path).catch(() => undefined)
}
