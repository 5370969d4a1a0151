import { spawn } from 'node:child_process'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { serverHome, serverUser } from '#testing/databases/system-postgres'
import { until } from '#testing/platform/until'
import { isInstalled } from '#testing/processes/is-installed'
import { killTree } from '#testing/processes/program'
import { quietPort } from '#testing/processes/quiet-port'
import { databaseName, roles } from './installation.ts'

export type Pooler = { port: number; close(): Promise<void> }

/** Whether the pooler is installed on this machine. */
export const hasPgbouncer = (): boolean => isInstalled('pgbouncer', '--version')

type PoolerOptions = {
  /** The server that it is in front of. */
  databasePort: number
  /** Number of its connections to the database. */
  connections: number
  /** Further lines of its configuration. */
  more?: string
}

/** Starts PgBouncer in transaction mode, with the settings that docs/operate.md names. */
export async function openPgbouncer({
  databasePort,
  connections,
  more = '',
}: PoolerOptions): Promise<Pooler> {
  const home = serverHome('bezant-pooler-')
  const port = await quietPort()
  const file = join(home, 'pgbouncer.ini')
  const users = join(home, 'users.txt')
  writeFileSync(
    users,
    Object.values(roles)
      .map((user) => `"${user}" ""\n`)
      .join(''),
  )
  writeFileSync(
    file,
    `[databases]
${databaseName} = host=127.0.0.1 port=${databasePort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
max_client_conn = 500
default_pool_size = ${connections}
${more}
`,
  )
  for (const path of [file, users]) chmodSync(path, 0o644)
  const child = spawn('pgbouncer', [file], { ...serverUser(), cwd: home, stdio: 'ignore' })
  const url = `postgresql://${roles.app}@127.0.0.1:${port}/${databaseName}`
  await until(() => answers(url), 'PgBouncer answers')
  return {
    port,
    close: async () => {
      await killTree(child.pid!)
      rmSync(home, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client(url)
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch (error) {
    // It listens, and the database is not made yet.
    return !/ECONNREFUSED/.test(String((error as NodeJS.ErrnoException).code))
  } finally {
    await client.end().catch(() => undefined)
  }
}
