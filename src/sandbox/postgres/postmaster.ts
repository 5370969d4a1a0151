import type { ChildProcess } from 'node:child_process'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../free-port.ts'
import type { Binaries } from './binaries.ts'
import { type Cluster, port } from './cluster.ts'
import { here, start } from './command.ts'
import { EmbeddedPostgresError } from './errors.ts'
import type { ServerAddress } from './join.ts'
import { type EmbeddedLog, relayLine } from './log.ts'
import { settingsOf } from './settings.ts'
import { watch } from './stop-after-kill.ts'
import { database, user } from './template.ts'

export type Exit = { code: number | null; signal: NodeJS.Signals | null }

type Postmaster = {
  pid: number
  connection: ServerAddress
  exited: Promise<Exit>
  stop: () => Promise<void>
}

const readyMs = 60_000
const fastMs = 3000
const immediateMs = 1000

/** Starts the server of a prepared cluster and waits until it accepts connections. */
export async function startPostmaster(
  cluster: Cluster,
  binaries: Binaries,
  log: EmbeddedLog,
  connectionsMax?: number,
): Promise<Postmaster> {
  const listening = await chooseListening(cluster, connectionsMax)
  const child = await start({
    program: binaries.postgres,
    args: ['-D', here(cluster.path, cluster.owner), ...settingsOf(cluster.durability, listening.settings)],
    cluster: cluster.path,
    owner: cluster.owner,
  })
  const exited = new Promise<Exit>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  )
  const tail = relayOutput(child, log)
  const discard = cluster.durability === 'ephemeral' ? cluster.path : undefined
  const watchdog = watch(child.pid!, discard ? 'QUIT' : 'INT', discard)
  void exited.then(watchdog.dismiss)
  const stop = () => stopPostmaster(child, exited, cluster, binaries)
  if (!(await isReady(child, cluster))) {
    await stop()
    throw new EmbeddedPostgresError(
      'START_FAILED',
      `PostgreSQL did not start on ${cluster.path}: ${tail.join('\n') || 'it logged nothing'}`,
    )
  }
  return { pid: child.pid!, connection: { ...listening.address, user, database }, exited, stop }
}

async function chooseListening(cluster: Cluster, connectionsMax: number | undefined) {
  const most = connectionsMax === undefined ? {} : { max_connections: String(connectionsMax) }
  const settings = { cluster_name: cluster.name, ...most }
  if (process.platform !== 'win32') {
    // The socket is in the cluster itself, which only its owner may enter; the path is relative, so never too long.
    return {
      settings: { ...settings, port: String(port), listen_addresses: '', unix_socket_directories: '.' },
      address: { host: cluster.shortPath, port },
    }
  }
  const free = await freePort()
  return {
    settings: { ...settings, port: String(free), listen_addresses: '127.0.0.1', unix_socket_directories: '' },
    address: { host: '127.0.0.1', port: free },
  }
}

/** Forwards the server's log, and keeps its last 20 lines to explain a failed start. */
function relayOutput(child: ChildProcess, log: EmbeddedLog): string[] {
  const tail: string[] = []
  for (const stream of [child.stdout!, child.stderr!]) {
    createInterface(stream).on('line', (line) => {
      tail.push(line)
      if (tail.length > 20) tail.shift()
      relayLine(log, line)
    })
  }
  return tail
}

/** Waits until `postmaster.pid` reports the server as ready on its eighth line, which pg_ctl waits for too. */
async function isReady(child: ChildProcess, cluster: Cluster): Promise<boolean> {
  const deadline = performance.now() + readyMs
  while (child.exitCode === null && child.signalCode === null && performance.now() < deadline) {
    const lines = (await readFile(join(cluster.path, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
    if (Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready') return true
    await sleep(3)
  }
  return false
}

async function stopPostmaster(
  child: ChildProcess,
  exited: Promise<Exit>,
  cluster: Cluster,
  binaries: Binaries,
): Promise<void> {
  if (process.platform === 'win32') return stopOnWindows(exited, cluster, binaries)
  // A fast shutdown ends the sessions and checkpoints; an immediate one leaves recovery to the next start.
  for (const [signal, waitMs] of [
    ['SIGINT', fastMs],
    ['SIGQUIT', immediateMs],
    ['SIGKILL', 60_000],
  ] as const) {
    child.kill(signal)
    const waiting = new AbortController()
    const expired = sleep(waitMs, 'expired', { signal: waiting.signal }).catch(() => 'exited')
    if ((await Promise.race([exited, expired])) !== 'expired') return waiting.abort()
  }
}

async function stopOnWindows(exited: Promise<Exit>, cluster: Cluster, binaries: Binaries): Promise<void> {
  const program = join(dirname(binaries.postgres), 'pg_ctl.exe')
  await new Promise((resolve) =>
    execFile(program, ['stop', '-D', cluster.path, '-m', 'fast', '-t', '3'], resolve),
  )
  await Promise.race([exited, sleep(immediateMs)])
}
