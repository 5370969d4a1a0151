import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '#sandbox/free-port'
import { until } from '#testing/platform/until'

const root = '/usr/lib/postgresql'

/** The folder of the newest PostgreSQL of this machine that has its clients; the embedded one lacks `pg_dump`. */
export function systemPostgres(): string | undefined {
  const versions = existsSync(root) ? readdirSync(root).map(Number) : []
  const folders = versions.sort((a, b) => b - a).map((version) => join(root, String(version), 'bin'))
  return folders.find((folder) => existsSync(join(folder, 'pg_dump')) && existsSync(join(folder, 'initdb')))
}

/** A database server of its own, with roles that no other test sees. */
export type Cluster = { port: number; close(): Promise<void> }

/** Servers refuse to run as root. */
const serverUser = (): { uid?: number; gid?: number } => {
  if (process.getuid?.() !== 0) return {}
  const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** Opens an empty server whose administrator is `postgres`, without passwords, on loopback. */
export async function openCluster(folder: string): Promise<Cluster> {
  const user = serverUser()
  const home = mkdtempSync(join(tmpdir(), 'bezant-cluster-'))
  chmodSync(home, 0o700)
  if (user.uid !== undefined && user.gid !== undefined) chownSync(home, user.uid, user.gid)
  const data = join(home, 'data')
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '-N']
  execFileSync(join(folder, 'initdb'), initdb, { ...user, cwd: home, stdio: 'ignore' })
  const port = await freePort()
  const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${home}`, 'fsync=off']
  const server = spawn(
    join(folder, 'postgres'),
    ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
    { ...user, cwd: home, stdio: 'ignore' },
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
  return { port, close: () => end(server, home) }
}

async function end(server: ChildProcess, home: string): Promise<void> {
  if (server.exitCode === null) {
    const exited = once(server, 'exit')
    server.kill('SIGQUIT')
    await exited
  }
  rmSync(home, { recursive: true, force: true, maxRetries: 10 })
}
