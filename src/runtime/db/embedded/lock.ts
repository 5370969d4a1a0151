/**
 * The exclusive lock of a data directory.
 *
 * Node has no flock, pid files lie (reused pids, other containers' pids), and "remove the stale file, then create
 * mine" lets two processes take over at once. What the kernel does give, and takes back at the instant a process
 * dies, is a listening unix socket: connecting to it is refused if and only if nobody listens any more.
 *
 * Each process raises a flag: a socket with a name never used again, listening before it is renamed into
 * `lock/`. Only then does it look at all other flags, and it owns the directory when none of them is alive. Of two
 * processes the one that raised its flag later sees the other's, whatever the timing, so both never own it; a dead
 * flag can be removed at any time because its name never comes back to life. When several contend, those with a
 * larger name lower theirs and wait. `holder.json` only says who holds the lock, for messages and for joining.
 *
 * Holds between containers that share a volume; not between machines that share a network filesystem.
 */
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import type { Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DataDirectory } from './data-directory.ts'
import { EmbeddedPostgresError, systemCode } from './errors.ts'
import { listenOn, probe } from './sockets.ts'

export type Connection = { host: string; port: number; user: string; database: string }

export type Holder = { flag: string; pid: number; since: string; connection?: Connection }

export type Lock = {
  /** Tells those who join where the database listens. */
  publish: (connection: Connection) => Promise<void>
  release: () => Promise<void>
}

type Flag = { name: string; lower: () => Promise<void> }

const contentionMs = 10_000
const abandonedMs = 60_000

/** Takes the lock or throws `IN_USE`, having changed nothing. */
export async function acquireLock(directory: DataDirectory): Promise<Lock> {
  const flag = await contend(directory)
  const holder: Holder = { flag: flag.name, pid: process.pid, since: new Date().toISOString() }
  await writeHolder(directory, holder)
  return {
    publish: (connection) => writeHolder(directory, { ...holder, connection }),
    release: async () => {
      await rm(holderPath(directory), { force: true })
      await flag.lower()
    },
  }
}

/** Who holds the lock, `undefined` when nobody who is alive. */
export async function findHolder(directory: DataDirectory): Promise<Holder | undefined> {
  const holder = await readHolder(directory)
  return holder && (await liveFlags(directory)).includes(holder.flag) ? holder : undefined
}

/** Removes the lock's directory, if nobody uses it. */
export async function removeLockDirectory(directory: DataDirectory): Promise<void> {
  await rmdir(lockPath(directory)).catch(() => undefined)
}

async function contend(directory: DataDirectory): Promise<Flag> {
  const deadline = performance.now() + contentionMs
  let mine: Flag | undefined
  for (;;) {
    const rivals = (await liveFlags(directory)).filter((name) => name !== mine?.name)
    if (mine && rivals.length === 0) return mine
    const holder = await readHolder(directory)
    const held = holder !== undefined && rivals.includes(holder.flag)
    if (held || performance.now() > deadline) {
      await mine?.lower()
      throw inUse(directory, holder)
    }
    if (!mine && rivals.length === 0) {
      mine = await raise(directory)
      continue
    }
    if (mine && rivals.some((name) => name < mine!.name)) {
      await mine.lower()
      mine = undefined
    }
    await sleep(2 + Math.random() * 8)
  }
}

async function raise(directory: DataDirectory): Promise<Flag | undefined> {
  if (process.platform === 'win32') return raisePipe(directory)
  const name = `${randomBytes(8).toString('hex')}.flag`
  const path = join(lockPath(directory), name)
  try {
    await mkdir(lockPath(directory), { recursive: true, mode: 0o700 })
    const server = await listenOn(`${path}.new`)
    await rename(`${path}.new`, path)
    return { name, lower: () => lower(server, path) }
  } catch (error) {
    // An ephemeral holder that just left took the empty directory with it.
    if (systemCode(error) === 'ENOENT') return undefined
    throw new EmbeddedPostgresError(
      'UNUSABLE',
      `The data directory ${directory.path} cannot be locked, because a unix socket cannot be made in it: ${(error as Error).message}. Give a directory of yours on a local disk with --data-dir.`,
      error,
    )
  }
}

async function lower(server: Server, path: string): Promise<void> {
  await rm(path, { force: true })
  await new Promise((resolve) => server.close(resolve))
}

/** The names of the flags whose process lives; removes those of the dead. */
async function liveFlags(directory: DataDirectory): Promise<string[]> {
  if (process.platform === 'win32') return livePipes(directory)
  const names = await readdir(lockPath(directory)).catch((error) => {
    if (systemCode(error) === 'ENOENT') return []
    throw new EmbeddedPostgresError(
      'UNUSABLE',
      `The lock of ${directory.path} cannot be read: ${error.message}. Start as the user who owns the directory, or give another one with --data-dir.`,
      error,
    )
  })
  const alive = await Promise.all(
    names.map(async (name) => {
      const path = join(lockPath(directory), name)
      if (name.endsWith('.flag')) {
        const state = await probe(path)
        if (state === 'dead') await rm(path, { force: true })
        return state === 'alive' ? [name] : []
      }
      if (name.endsWith('.new')) await removeAbandoned(path)
      return []
    }),
  )
  return alive.flat().sort()
}

/** A flag on its way up listens within microseconds of being bound; one refused a minute later has no process. */
async function removeAbandoned(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found && Date.now() - found.mtimeMs > abandonedMs && (await probe(path)) === 'dead') {
    await rm(path, { force: true })
  }
}

async function raisePipe(directory: DataDirectory): Promise<Flag | undefined> {
  await mkdir(lockPath(directory), { recursive: true })
  // A named pipe's first instance is exclusive and ends with its process: on Windows it is the whole lock.
  const server = await listenOn(pipePath(directory)).catch((error) => {
    if (systemCode(error) === 'EADDRINUSE') return undefined
    throw error
  })
  return server && { name: 'pipe', lower: () => lower(server, pipePath(directory)) }
}

async function livePipes(directory: DataDirectory): Promise<string[]> {
  return (await probe(pipePath(directory))) === 'alive' ? ['pipe'] : []
}

function pipePath(directory: DataDirectory): string {
  const digest = createHash('sha256').update(directory.path.toLowerCase()).digest('hex')
  return `\\\\.\\pipe\\bezant-${digest.slice(0, 32)}`
}

function inUse(directory: DataDirectory, holder: Holder | undefined): EmbeddedPostgresError {
  const who = holder
    ? `process ${holder.pid} (since ${holder.since})`
    : 'another process, which is just starting'
  return new EmbeddedPostgresError(
    'IN_USE',
    `The data directory ${directory.path} is in use by ${who}. Stop that process first, or give another directory with --data-dir.`,
  )
}

async function readHolder(directory: DataDirectory): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(holderPath(directory), 'utf8')) as Holder
  } catch {
    return undefined
  }
}

async function writeHolder(directory: DataDirectory, holder: Holder): Promise<void> {
  await writeFile(`${holderPath(directory)}.draft`, `${JSON.stringify(holder)}\n`, { mode: 0o600 })
  await rename(`${holderPath(directory)}.draft`, holderPath(directory))
}

function lockPath(directory: DataDirectory): string {
  return join(directory.shortPath, 'lock')
}

function holderPath(directory: DataDirectory): string {
  return join(lockPath(directory), 'holder.json')
}
