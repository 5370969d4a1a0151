import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemCode } from '#lib/system-code'
import { until } from '#testing/platform/until'
import { processesUnder } from '#testing/processes/program'
import { quietPort } from '#testing/processes/quiet-port'

const root = '/usr/lib/postgresql'

/** The folder of the newest PostgreSQL of this machine that has its clients; the embedded one lacks `pg_dump`. */
export function systemPostgres(): string | undefined {
  const versions = existsSync(root) ? readdirSync(root).map(Number) : []
  const folders = versions.sort((a, b) => b - a).map((version) => join(root, String(version), 'bin'))
  return folders.find((folder) => existsSync(join(folder, 'pg_dump')) && existsSync(join(folder, 'initdb')))
}

/** A database server of its own, with roles that no other test sees. */
export type Cluster = { port: number; pid: number; close(): Promise<void> }

/** The user of servers, which refuse to run as root; empty for the present one. */
export const serverUser = (): { uid?: number; gid?: number } => {
  if (process.getuid?.() !== 0) return {}
  const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** A new temporary folder of the user of servers. */
export function serverHome(prefix: string): string {
  const { uid, gid } = serverUser()
  const home = mkdtempSync(join(tmpdir(), prefix))
  chmodSync(home, 0o700)
  if (uid !== undefined && gid !== undefined) chownSync(home, uid, gid)
  return home
}

/** Opens an empty server whose administrator is `postgres`, without passwords, on loopback. */
export async function openCluster(folder: string, settings: readonly string[] = []): Promise<Cluster> {
  const home = serverHome('bezant-cluster-')
  const initdb = ['-D', 'data', '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '-N']
  execFileSync(join(folder, 'initdb'), initdb, { ...serverUser(), cwd: home, stdio: 'ignore' })
  const port = await quietPort()
  const server = await startServer(folder, home, port, settings)
  return { port, pid: server.pid!, close: () => end(server, home) }
}

/** A streaming replica. Its server can be killed, frozen with all its processes, and started again on the same port. */
export type Standby = Omit<Cluster, 'pid'> & {
  kill(): Promise<void>
  start(): Promise<void>
  freeze(): void
  thaw(): void
  promote(): void
}

/** Opens a standby of a server on this machine. */
export async function openStandby(
  folder: string,
  primary: Cluster,
  settings: readonly string[] = [],
): Promise<Standby> {
  const home = serverHome('bezant-cluster-')
  const user = { ...serverUser(), cwd: home, stdio: 'ignore' as const }
  const source = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres']
  execFileSync(join(folder, 'pg_basebackup'), ['-D', 'data', '-R', '-N', '-c', 'fast', ...source], user)
  const port = await quietPort()
  let server = await startServer(folder, home, port, settings)
  const signal = (name: NodeJS.Signals) => {
    for (const pid of processesUnder(server.pid!)) signalTo(pid, name)
  }
  return {
    port,
    kill: () => stop(server, 'SIGKILL'),
    start: async () => {
      server = await startServer(folder, home, port, settings)
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    promote: () => void execFileSync(join(folder, 'pg_ctl'), ['-D', 'data', '-w', 'promote'], user),
    close: () => end(server, home),
  }
}

/** Signals a process, unless it has just ended by itself. */
function signalTo(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error
  }
}

async function startServer(
  folder: string,
  home: string,
  port: number,
  more: readonly string[],
): Promise<ChildProcess> {
  const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${home}`, 'fsync=off', ...more]
  const server = spawn(
    join(folder, 'postgres'),
    ['-D', 'data', '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
    { ...serverUser(), cwd: home, stdio: 'ignore' },
  )
  const isReady = () => {
    try {
      execFileSync(join(folder, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)])
      return true
    } catch {
      return false
    }
  }
  await until(async () => server.exitCode !== null || isReady(), 'the database server answers')
  return server
}

async function stop(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const exited = once(server, 'exit')
  server.kill(signal)
  await exited
}

async function end(server: ChildProcess, home: string): Promise<void> {
  await stop(server, 'SIGQUIT')
  rmSync(home, { recursive: true, force: true, maxRetries: 10 })
}
