/**
 * The exclusive lock of a directory.
 *
 * Node has no flock, pid files are unreliable (reused pids, other containers' pids), and "remove the stale file, then create
 * mine" lets two processes take over at once. The lock uses listening unix sockets, which the kernel closes the instant a
 * process dies: a connection is refused if and only if no process listens any more.
 *
 * Each process raises a flag: a socket with a unique name, listening before it is renamed into `lock/`. Only then does
 * it check all other flags, and it owns the directory when none of them is alive. Of two processes, the one that raised its
 * flag later always sees the other's, so both never own it; a dead flag can be removed at any time because its name is
 * never reused. When several contend, those with a larger name lower theirs and wait. `holder.json` only identifies the
 * holder, for messages and for processes that join it.
 *
 * The lock works between containers that share a volume; not between machines that share a network filesystem.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import type { Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemCode } from '#lib/system-code'
import { type Directory, removeAlias } from './directory.ts'
import { DirectoryLockError } from './errors.ts'
import { flagDirectory, type Holder, readHolder, removeHolder, writeHolder } from './holder.ts'
import { type Flag, listenOn, probe } from './sockets.ts'
import { livePipes, raisePipe } from './windows.ts'

export type Lock = {
  /** Replaces the JSON that other processes can read while this one holds the lock. */
  publish: (published: unknown) => Promise<void>
  release: () => Promise<void>
}

const contentionMs = 10_000

/** Acquires the lock and publishes `published`, or throws `IN_USE` without changing anything. */
export async function acquireLock(directory: Directory, published?: unknown): Promise<Lock> {
  const flag = await contend(directory)
  const previous = await readHolder(directory)
  if (previous?.alias) await removeAlias(previous.alias, directory)
  const holder: Holder = { flag: flag.name, pid: process.pid, alias: directory.alias }
  const publish = (content: unknown) => writeHolder(directory, { ...holder, published: content })
  await publish(published)
  return {
    publish,
    release: async () => {
      await removeHolder(directory)
      await flag.lower()
    },
  }
}

/** Returns the record of the lock's holder; `undefined` when no living process holds it. */
export async function findHolder(directory: Directory): Promise<Holder | undefined> {
  const holder = await readHolder(directory)
  return holder && (await liveFlags(directory)).includes(holder.flag) ? holder : undefined
}

async function contend(directory: Directory): Promise<Flag> {
  const deadline = performance.now() + contentionMs
  let mine: Flag | undefined
  for (;;) {
    const rivals = (await liveFlags(directory)).filter((name) => name !== mine?.name)
    if (mine && rivals.length === 0) return mine
    const holder = await readHolder(directory)
    const holds = holder !== undefined && rivals.includes(holder.flag)
    if (holds || performance.now() > deadline) {
      await mine?.lower()
      throw inUse(directory, holds ? holder : undefined)
    }
    if (!mine && rivals.length === 0) {
      mine = await raise(directory)
      continue
    }
    if (mine && rivals.some((name) => name < mine!.name)) {
      await mine.lower()
      mine = undefined
    }
    await sleep(randomInt(2, 10))
  }
}

async function raise(directory: Directory): Promise<Flag | undefined> {
  if (process.platform === 'win32') return raisePipe(directory)
  const name = `${randomBytes(8).toString('hex')}.flag`
  const path = join(flagDirectory(directory), name)
  try {
    await mkdir(flagDirectory(directory), { recursive: true, mode: 0o700 })
    const server = await listenOn(join(directory.shortPath, 'lock', `${name}.new`))
    await rename(`${path}.new`, path)
    return { name, lower: () => lower(server, path) }
  } catch (error) {
    // An ephemeral holder that just ended removed the empty directory: the caller retries.
    if (systemCode(error) === 'ENOENT') return undefined
    throw new DirectoryLockError(
      'UNUSABLE',
      `The directory ${directory.path} cannot be locked, because no unix socket can be made in it (${(error as Error).message}). Give a directory of yours on a local disk with --data-dir.`,
      error,
    )
  }
}

async function lower(server: Server, path: string): Promise<void> {
  await rm(path, { force: true })
  await new Promise((resolve) => server.close(resolve))
}

/** Returns the sorted names of the flags whose process lives; removes those of dead processes. */
async function liveFlags(directory: Directory): Promise<string[]> {
  if (process.platform === 'win32') return livePipes(directory)
  const names = await readdir(flagDirectory(directory)).catch((error) => {
    if (systemCode(error) === 'ENOENT') return []
    throw new DirectoryLockError(
      'UNUSABLE',
      `The lock of ${directory.path} cannot be read (${error.message}). Start as the user who owns the directory, or give another one with --data-dir.`,
      error,
    )
  })
  const flags = names.filter((name) => name.endsWith('.flag'))
  const alive = await Promise.all(flags.map((name) => isAlive(directory, name)))
  return flags.filter((_, index) => alive[index]).sort()
}

async function isAlive(directory: Directory, name: string): Promise<boolean> {
  const state = await probe(join(directory.shortPath, 'lock', name))
  if (state === 'dead') await rm(join(flagDirectory(directory), name), { force: true })
  // The short path may be missing while the flag exists, so only the directory itself shows whether it was lowered.
  if (state === 'gone')
    return (await readdir(flagDirectory(directory)).catch((): string[] => [])).includes(name)
  return state === 'alive'
}

function inUse(directory: Directory, holder: Holder | undefined): DirectoryLockError {
  const who = holder ? `process ${holder.pid}` : 'another process, which is just starting or stopping'
  return new DirectoryLockError(
    'IN_USE',
    `The directory ${directory.path} is in use by ${who}. Stop that process first, or give another directory with --data-dir.`,
  )
}
