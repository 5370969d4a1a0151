import { execFile } from 'node:child_process'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemCode } from '#lib/system-code'
import { probe } from '#runtime/directory-lock/sockets'
import { EmbeddedPostgresError } from './errors.ts'
import type { EmbeddedLog } from './log.ts'

const shutdownSteps = [
  // Fast shutdown, immediate shutdown, and an unconditional kill.
  { signal: 'SIGINT', waitMs: 1200 },
  { signal: 'SIGQUIT', waitMs: 800 },
  { signal: 'SIGKILL', waitMs: 2000 },
] as const

/**
 * Returns the name that a cluster's processes carry in their command line, which every user may read (unlike their working
 * directory): the directory's device and inode, which survive a rename and differ from any other cluster's.
 */
export async function clusterName(cluster: string): Promise<string> {
  const { dev, ino } = await stat(cluster, { bigint: true })
  return `bezant-${dev}-${ino}`
}

/**
 * Ends the PostgreSQL processes that a killed supervisor left on this cluster, and removes their pid files.
 * The caller holds the lock.
 */
export async function endLeftovers(cluster: string, socket: string, log: EmbeddedLog): Promise<void> {
  if (process.platform === 'win32') return
  const name = await clusterName(cluster)
  let leftovers = await findProcesses(name)
  for (const { signal, waitMs } of shutdownSteps) {
    if (leftovers.length === 0) break
    // SIGINT has another meaning for a backend; the postmaster, if it still lives, forwards an orderly shutdown.
    const addressed = signal === 'SIGINT' ? leftovers.filter(({ isPostmaster }) => isPostmaster) : leftovers
    if (addressed.length === 0) continue
    const pids = addressed.map(({ pid }) => pid)
    log.warn({ pids, signal, cluster }, 'ending leftover PostgreSQL processes of a killed sandbox')
    for (const pid of pids) send(pid, signal)
    const deadline = performance.now() + waitMs
    while ((leftovers = await findProcesses(name)).length > 0 && performance.now() < deadline) await sleep(10)
  }
  if ((await probe(socket)) === 'alive') {
    throw new EmbeddedPostgresError(
      'IN_USE',
      `PostgreSQL of another container or another user runs on ${cluster} and cannot be ended from here. Stop it there first, or give another directory with --data-dir.`,
    )
  }
  // PostgreSQL would mistake any process with the pid in these files for its own, even an unreaped zombie.
  for (const claim of ['postmaster.pid', `${basename(socket)}.lock`])
    await rm(join(cluster, claim), { force: true })
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    // ESRCH: the process is gone. EPERM: it belongs to another user, so it is not ours despite its name.
    if (!['ESRCH', 'EPERM'].includes(systemCode(error) ?? '')) throw error
  }
}

async function findProcesses(name: string): Promise<{ pid: number; isPostmaster: boolean }[]> {
  const lines = process.platform === 'linux' ? await commandLinesOfProc() : await commandLinesOfPs()
  return lines.flatMap(({ pid, command }) => {
    const isPostmaster = command.includes(`cluster_name=${name} `)
    return isPostmaster || command.startsWith(`postgres: ${name}: `) ? [{ pid, isPostmaster }] : []
  })
}

type CommandLine = { pid: number; command: string }

async function commandLinesOfProc(): Promise<CommandLine[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  return Promise.all(
    pids.map(async (pid) => {
      const raw = await readFile(join('/proc', pid, 'cmdline'), 'utf8').catch(() => '')
      return { pid: Number(pid), command: raw.replaceAll('\0', ' ') }
    }),
  )
}

function commandLinesOfPs(): Promise<CommandLine[]> {
  return new Promise((resolve, reject) => {
    execFile('/bin/ps', ['-axww', '-o', 'pid=,command='], { maxBuffer: 64 << 20 }, (error, output) => {
      if (error) return reject(error)
      resolve(
        output.split('\n').map((line) => {
          const [, pid, command] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? []
          return { pid: Number(pid), command: `${command ?? ''} ` }
        }),
      )
    })
  })
}
