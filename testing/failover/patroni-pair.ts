/** A primary and a streaming standby under Patroni, which keeps its lock in etcd and promotes the standby by itself. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serverHome, serverUser } from '#testing/databases/system-postgres'
import { until } from '#testing/platform/until'
import { killTree } from '#testing/processes/program'
import { quietPort } from '#testing/processes/quiet-port'
import type { DatabasePair, ReplicationMode } from './database-pair.ts'
import { walSenders } from './streaming-pair.ts'

/** The lock of the primary lasts this long, in seconds: a standby is promoted once it is over. Patroni takes no shorter one. */
const lock = { ttl: 20, loop_wait: 3, retry_timeout: 3 }

type Member = { name: string; port: number; restPort: number; process: ChildProcess }

/** Starts etcd and two members. `folder` has the programs of PostgreSQL. */
export async function openPatroniPair(folder: string, mode: ReplicationMode): Promise<DatabasePair> {
  const home = serverHome('bezant-patroni-')
  const started: ChildProcess[] = []
  const members: Member[] = []
  const start = (program: string, args: string[], log: string) => {
    const output = openSync(join(home, log), 'a')
    const child = spawn(program, args, { ...serverUser(), cwd: home, stdio: ['ignore', output, output] })
    started.push(child)
    return child
  }
  const close = async () => {
    for (const member of members) await kill(home, member)
    for (const { pid } of started) if (pid !== undefined) await killTree(pid)
    rmSync(home, { recursive: true, force: true, maxRetries: 10 })
  }
  try {
    const etcd = await startEtcd(home, start)
    for (const name of ['first', 'second']) {
      const [port, restPort] = [await quietPort(), await quietPort()]
      const file = join(home, `${name}.json`)
      writeFileSync(file, JSON.stringify(configOf({ name, port, restPort, etcd, folder, home, mode })), {
        mode: 0o644,
      })
      const process = start('patroni', [file], `${name}.log`)
      members.push({ name, port, restPort, process })
      // The first becomes the primary, of which the second is made.
      await until(
        () => hasRole(restPort, members.length === 1 ? 'primary' : 'replica'),
        `the member ${name} has its role: see ${home}`,
      )
    }
    const [first, second] = members as [Member, Member]
    let primary = first
    const primaryUrl = () => `postgresql://postgres@127.0.0.1:${primary.port}/postgres`
    await until(async () => (await walSenders(primaryUrl())).length > 0, 'the standby follows')
    if (mode === 'synchronous')
      await until(() => hasRole(second.restPort, 'sync'), 'Patroni waits for the standby at each commit')
    return {
      hosts: members.map(({ port }) => `127.0.0.1:${port}`).join(),
      primaryUrl,
      stopReplication: async () => {
        for (const pid of await walSenders(primaryUrl())) process.kill(pid, 'SIGSTOP')
      },
      killPrimary: () => kill(home, first),
      promoted: async () => {
        await until(() => hasRole(second.restPort, 'primary'), 'Patroni has promoted the standby')
        primary = second
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Kills Patroni, and then PostgreSQL, which it starts as a daemon and which outlives it. */
async function kill(home: string, { name, process }: Member): Promise<void> {
  await killTree(process.pid!)
  const pidFile = join(home, name, 'postmaster.pid')
  if (existsSync(pidFile)) await killTree(Number(readFileSync(pidFile, 'utf8').split('\n')[0]))
}

async function startEtcd(
  home: string,
  start: (program: string, args: string[], log: string) => ChildProcess,
): Promise<string> {
  const [client, peer] = (await Promise.all([quietPort(), quietPort()])).map((port) => `127.0.0.1:${port}`)
  const options = {
    'data-dir': join(home, 'etcd'),
    'listen-client-urls': `http://${client}`,
    'advertise-client-urls': `http://${client}`,
    'listen-peer-urls': `http://${peer}`,
    'initial-advertise-peer-urls': `http://${peer}`,
    'initial-cluster': `default=http://${peer}`,
  }
  start(
    'etcd',
    Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
    'etcd.log',
  )
  await until(() => isOk(`http://${client}/health`), 'etcd answers')
  return client!
}

type MemberOptions = Omit<Member, 'process'> & {
  etcd: string
  folder: string
  home: string
  mode: ReplicationMode
}

/** The configuration of one member. Patroni reads YAML, of which JSON is a part. */
const configOf = ({ name, port, restPort, etcd, folder, home, mode }: MemberOptions) => ({
  scope: 'bezant',
  name,
  restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
  etcd3: { host: etcd },
  bootstrap: {
    dcs: {
      ...lock,
      synchronous_mode: mode === 'synchronous',
      // The drill takes a part of the log from the standby, and wants it promoted all the same.
      maximum_lag_on_failover: 2 ** 40,
      postgresql: { parameters: { max_connections: 200, fsync: 'off' } },
    },
    initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, { auth: 'trust' }],
  },
  postgresql: {
    listen: `127.0.0.1:${port}`,
    connect_address: `127.0.0.1:${port}`,
    data_dir: join(home, name),
    bin_dir: folder,
    pgpass: join(home, `${name}.pgpass`),
    authentication: { superuser: { username: 'postgres' }, replication: { username: 'postgres' } },
    pg_hba: [
      'local all all trust',
      'host all all 127.0.0.1/32 trust',
      'host replication all 127.0.0.1/32 trust',
    ],
    parameters: { unix_socket_directories: home },
  },
})

/** Patroni answers 200 on the path of the role that a member has. */
const hasRole = (restPort: number, role: 'primary' | 'replica' | 'sync') =>
  isOk(`http://127.0.0.1:${restPort}/${role}`)

const isOk = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )
