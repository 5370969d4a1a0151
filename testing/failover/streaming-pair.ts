/** A primary and a streaming standby without a tool that supervises them: the operator promotes the standby. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { serverHome, serverUser } from '#testing/databases/system-postgres'
import { until } from '#testing/platform/until'
import { processesUnder } from '#testing/processes/program'
import { quietPort } from '#testing/processes/quiet-port'
import type { DatabasePair, ReplicationMode } from './database-pair.ts'

/** Starts both servers with the programs in `folder`, such as `/usr/lib/postgresql/15/bin`. */
export async function openStreamingPair(folder: string, mode: ReplicationMode): Promise<DatabasePair> {
  const user = serverUser()
  const home = serverHome('bezant-pair-')
  const options = { ...user, cwd: home, stdio: 'ignore' as const }
  const run = (program: string, ...args: string[]) => execFileSync(join(folder, program), args, options)
  const ports = [await quietPort(), await quietPort()] as const
  const servers: ChildProcess[] = []
  const start = async (index: 0 | 1, ...settings: string[]) => {
    const own = [
      'listen_addresses=127.0.0.1',
      `unix_socket_directories=${home}`,
      'fsync=off',
      'max_connections=200',
      ...settings,
    ]
    const args = ['-D', join(home, String(index)), '-p', String(ports[index])]
    servers[index] = spawn(
      join(folder, 'postgres'),
      [...args, ...own.flatMap((setting) => ['-c', setting])],
      options,
    )
    await until(() => answers(folder, ports[index]), 'the database server answers')
  }
  const [primary, standby] = ports
  run(
    'initdb',
    '-D',
    join(home, '0'),
    '-U',
    'postgres',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    '-N',
  )
  const whole = mode === 'synchronous' ? ['synchronous_standby_names=*'] : []
  await start(0, ...whole)
  const source = `host=127.0.0.1 port=${primary} user=postgres`
  // Without a synchronous standby no commit ends: the copy needs none.
  run('pg_basebackup', '-D', join(home, '1'), '-d', source, '-R', '-X', 'stream', '-c', 'fast')
  await start(1)
  let isPromoted = false
  const primaryUrl = () => urlOf(isPromoted ? standby : primary)
  await until(async () => (await walSenders(primaryUrl())).length > 0, 'the standby follows')
  return {
    hosts: ports.map((port) => `127.0.0.1:${port}`).join(),
    primaryUrl,
    stopReplication: async () => {
      for (const pid of await walSenders(primaryUrl())) process.kill(pid, 'SIGSTOP')
    },
    killPrimary: async () => killAll(servers[0]!.pid!),
    promoted: async () => {
      run('pg_ctl', 'promote', '-w', '-D', join(home, '1'))
      isPromoted = true
    },
    close: async () => {
      for (const { pid } of servers) killAll(pid!)
      rmSync(home, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

const urlOf = (port: number) => `postgresql://postgres@127.0.0.1:${port}/postgres`

function answers(folder: string, port: number): boolean {
  try {
    execFileSync(join(folder, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)])
    return true
  } catch {
    return false
  }
}

/** The processes of a primary that send its log to standbys. */
export async function walSenders(url: string): Promise<number[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query(
      `select pid from pg_stat_replication where state = 'streaming' and application_name <> 'pg_basebackup'`,
    )
    return rows.map(({ pid }) => pid)
  } finally {
    await client.end()
  }
}

/** Kills a process and all that it started, itself first, so that it starts nothing more. */
export function killAll(pid: number): void {
  for (const each of processesUnder(pid)) {
    try {
      process.kill(each, 'SIGKILL')
    } catch {
      // It ended with its parent.
    }
  }
}
