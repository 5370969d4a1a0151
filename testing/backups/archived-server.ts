/** A database server that pgBackRest backs up as docs/operate.md says: the commands run as they stand there. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type openAsOwner, sql } from '#runtime/db/db'
import { serverHome, serverUser } from '#testing/databases/system-postgres'
import { until } from '#testing/platform/until'
import { documentedBlock } from '#testing/processes/documented-block'
import { isInstalled } from '#testing/processes/is-installed'
import { killTree } from '#testing/processes/program'
import { quietPort } from '#testing/processes/quiet-port'

export type ArchivedServer = {
  /** The URL of a database for a user. */
  urlOf(user: string, database: string): string
  /** Lets the server archive its log from now on. */
  archive(): Promise<void>
  /** Makes a full backup, and verifies all that is in the repository. */
  backUp(): Promise<void>
  /** Whether verification fails while one byte of the backup is another. */
  noticesDamage(): Promise<boolean>
  /** Kills the server, and removes its files and the settings of pgBackRest. The repository and a copy of the settings are left. */
  destroy(): Promise<void>
  /** Restores the server as of a time, from an empty disk; resolves when it answers. */
  restore(target: string): Promise<void>
  sizes(): Promise<BackupSizes>
  close(): Promise<void>
}

type BackupSizes = {
  /** Bytes of the server's files in the newest backup, and what they take in the repository. */
  copiedBytes: number
  backupBytes: number
  /** Bytes of all backups and of the archived log. */
  repositoryBytes: number
  /** Files of the repository that are not encrypted. */
  readable: string[]
}

/** Whether pgBackRest is installed on this machine. */
export const hasPgbackrest = (): boolean => isInstalled('pgbackrest', 'version')

/** Opens an empty server with checksums by the programs in `folder`. It syncs its files, as in production. */
export async function openArchivedServer(folder: string): Promise<ArchivedServer> {
  const home = serverHome('bezant-archived-')
  const [data, repository, settings] = ['data', 'repository', 'pgbackrest.conf'].map((name) =>
    join(home, name),
  ) as [string, string, string]
  const port = await quietPort()
  const run = openShell(folder, { home, data, repository, settings, port })
  let keptSettings = ''
  const close = async () => {
    await kill(data)
    rmSync(home, { recursive: true, force: true, maxRetries: 10 })
  }
  try {
    await run('initdb -D "$PGDATA" -U postgres -A trust -E UTF8 --locale=C.UTF-8 -k')
    const own = [`port = ${port}`, `listen_addresses = '127.0.0.1'`, `unix_socket_directories = '${home}'`]
    appendFileSync(join(data, 'postgresql.conf'), `${own.join('\n')}\n`)
    await run('pg_ctl -D "$PGDATA" -w start')
  } catch (error) {
    await close()
    throw error
  }
  return {
    urlOf: (user, database) => `postgresql://${user}@127.0.0.1:${port}/${database}`,
    archive: async () => {
      await run(documented('stanza-create'))
      keptSettings = readFileSync(settings, 'utf8')
    },
    backUp: () => run(documented(' backup\n')),
    noticesDamage: () =>
      withDamage(join(repository, 'backup'), () =>
        run(lineOf(documented(' backup\n'), ' verify')).then(
          () => false,
          () => true,
        ),
      ),
    destroy: async () => {
      await kill(data)
      const lost = readdirSync(home).filter((name) => !['repository', 'outputs'].includes(name))
      for (const name of lost) rmSync(join(home, name), { recursive: true })
    },
    restore: async (target) => {
      await run(`(umask 077; cat > '${settings}' <<'KEPT'\n${keptSettings}KEPT\n)`)
      const block = documented(' restore\n')
      const asOf = block.replace(/--target='[^']+'/, `--target='${target}'`)
      if (asOf === block) throw new Error(`the documented restore has no --target: ${block}`)
      await run(asOf)
    },
    sizes: async () => {
      const told = join(home, 'info.json')
      await run(`pgbackrest --stanza=bezant --output=json info > '${told}'`)
      const [{ backup }] = JSON.parse(readFileSync(told, 'utf8'))
      const { size, repository: kept } = backup.at(-1).info
      const files = filesUnder(repository)
      return {
        copiedBytes: size,
        backupBytes: kept.size,
        repositoryBytes: files.reduce((sum, path) => sum + statSync(path).size, 0),
        readable: files.filter((path) => !isEncrypted(path)),
      }
    },
    close,
  }
}

const documented = (containing: string) => documentedBlock('Back up and restore', containing)

const lineOf = (block: string, containing: string) =>
  block.split('\n').find((line) => line.includes(containing))!

type Places = { home: string; data: string; repository: string; settings: string; port: number }

/**
 * A shell of the server's user, in which the documented places are those of this server. Its output is in a file, since a server
 * that it starts keeps what it was given.
 */
function openShell(folder: string, { home, data, repository, settings, port }: Places) {
  const outputs = join(home, 'outputs')
  mkdirSync(outputs)
  let count = 0
  const env = {
    PATH: `${folder}:${process.env['PATH']}`,
    HOME: home,
    PGDATA: data,
    PGBACKREST_CONFIG: settings,
    PGBACKREST_LOG_LEVEL_FILE: 'off',
    PGBACKREST_LOCK_PATH: join(home, 'locks'),
    PGBACKREST_PG1_PORT: String(port),
    PGBACKREST_PG1_SOCKET_PATH: home,
    PGBACKREST_PG1_USER: 'postgres',
  }
  return async (commands: string): Promise<void> => {
    const here = commands
      .replaceAll('/etc/pgbackrest.conf', settings)
      .replaceAll('=/backup\n', `=${repository}\n`)
    const output = join(outputs, `${++count}.txt`)
    const file = openSync(output, 'a')
    const child = spawn('bash', ['-ec', here], {
      ...serverUser(),
      cwd: home,
      env,
      stdio: ['ignore', file, file],
    })
    const [code] = (await once(child, 'exit')) as [number | null]
    if (code !== 0)
      throw new Error(
        `these commands ended with ${code}:\n${here}\n${readFileSync(output, 'utf8').slice(-4_000)}`,
      )
  }
}

async function kill(data: string): Promise<void> {
  const pidFile = join(data, 'postmaster.pid')
  if (existsSync(pidFile)) await killTree(Number(readFileSync(pidFile, 'utf8').split('\n')[0]))
}

const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** Whether a file begins as OpenSSL begins what it encrypted with a passphrase. */
function isEncrypted(path: string): boolean {
  const start = Buffer.alloc(8)
  const file = openSync(path, 'r')
  readSync(file, start, 0, start.length, 0)
  closeSync(file)
  return start.toString() === 'Salted__'
}

/** Changes a byte in the middle of the largest file while something is done. */
async function withDamage<Result>(folder: string, act: () => Promise<Result>): Promise<Result> {
  const files = filesUnder(folder).map((path) => ({ path, size: statSync(path).size }))
  const { path, size } = files.reduce((largest, each) => (each.size > largest.size ? each : largest))
  const file = openSync(path, 'r+')
  const change = () => {
    const byte = Buffer.alloc(1)
    readSync(file, byte, 0, 1, size >> 1)
    writeSync(file, Buffer.of(byte[0]! ^ 1), 0, 1, size >> 1)
  }
  try {
    change()
    return await act().finally(change)
  } finally {
    closeSync(file)
  }
}

/** The present time by the clock of the server, as a target of a restore. */
export const timeOf = async (admin: OwnDatabase): Promise<string> =>
  (
    await admin.one<{ now: string }>(
      sql`select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US+00') as now`,
    )
  ).now

/** Ends the present segment of the log, for which a server without use waits `archive_timeout`, and waits until it is archived. */
export async function untilArchived(admin: OwnDatabase): Promise<void> {
  const { segment } = await admin.one<{ segment: string }>(
    sql`select pg_walfile_name(pg_switch_wal()) as segment`,
  )
  await until(async () => {
    const { last } = await admin.one<{ last: string | null }>(
      sql`select last_archived_wal as last from pg_stat_archiver`,
    )
    return last !== null && last >= segment
  }, 'the log is archived')
}

/** Waits until recovery has ended. */
export const untilPrimary = (admin: OwnDatabase): Promise<void> =>
  until(
    async () => !(await admin.one<{ reading: boolean }>(sql`select pg_is_in_recovery() as reading`)).reading,
    'the restored server writes',
  )

type OwnDatabase = ReturnType<typeof openAsOwner>
