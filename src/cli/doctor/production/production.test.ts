/** `bezant doctor --production` about a sound installation, about the same with faults everywhere, and after their repair. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { insertEntity } from '#runtime/auth/store'
import { openAsOwner } from '#runtime/db/db'
import { sandboxEntity } from '#sandbox/credentials'
import { adminPassword, openKeptServer, type ServerForm } from '#testing/databases/kept-server'
import { systemPostgres } from '#testing/databases/system-postgres'
import { startTestChains } from '#testing/platform/chain'
import { runCommand } from '#testing/processes/command'

const postgres = systemPostgres()
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const step of cleanups.splice(0).reverse()) await step()
})

type Environment = Record<string, string>

const soundServer: ServerForm = {
  settings: ['archive_mode = on', `archive_command = 'cp %p ../archive/%f'`],
  asksPasswords: true,
  hasChecksums: true,
}

const faultyServer: ServerForm = {
  settings: [
    'fsync = off',
    'wal_level = minimal',
    'max_wal_senders = 0',
    'archive_mode = off',
    'autovacuum = off',
    'track_counts = off',
    'password_encryption = md5',
  ],
  asksPasswords: false,
  hasChecksums: false,
}

/** The faults that the command finds, by their names, in a run whose exit code agrees. */
async function faultsOf(environment: Environment): Promise<Map<string, string>> {
  const { code, stdout } = await runCommand({
    command: 'doctor',
    args: ['--production', '--json', '--port', '0'],
    env: environment,
  })
  const rows = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { check: string; state: string; found: string })
  const faults = rows.filter(({ state }) => state === 'FAULT')
  expect(rows.length).toBeGreaterThan(40)
  expect(new Set(rows.map(({ check }) => check)).size).toBe(rows.length)
  expect(code).toBe(faults.length > 0 ? 1 : 0)
  // Each names its remedy, behind the reason, unless it is passed on from the system.
  for (const { check, found } of faults) expect(found, check).toMatch(/[:,(]/)
  return new Map(faults.map(({ check, found }) => [check, found]))
}

const temporary = ['tmpfs', 'ramfs', 'overlayfs', 'aufs']
const fileSystemOf = (path: string) =>
  execFileSync('stat', ['-f', '-c', '%T', path], { encoding: 'utf8' }).trim()

/**
 * Makes a folder on a disk. In a container there may be none: then the one finding about a sound installation is that its
 * journals end with the container.
 */
async function openFolder() {
  const places = ['/var/tmp', '/tmp', process.cwd()]
  const place = places.find((path) => !temporary.includes(fileSystemOf(path)))
  const folder = await mkdtemp(join(place ?? '/tmp', 'bezant-production-'))
  cleanups.push(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return { folder, unavoidable: place ? [] : ['storage of journals and guesses'] }
}

/** Makes the roles and the database of docs/operate.md, and the same database with the entity of a sandbox in it. */
async function makeDatabases(urlOf: (user: string, password: string, name: string) => string): Promise<void> {
  const admin = openAsOwner({ url: urlOf('postgres', adminPassword, 'postgres') })
  await admin.script(`create role bezant_runtime nologin; create role bezant login password 'of-the-owner';
    create role bezant_app login password 'of-the-app'; grant bezant_runtime to bezant, bezant_app`)
  await admin.script('create database bezant owner bezant')
  const ownerUrl = urlOf('bezant', 'of-the-owner', 'bezant')
  const { code, stderr } = await runCommand({ command: 'migrate', env: { DATABASE_URL: ownerUrl } })
  expect(code, stderr).toBe(0)
  await admin.script('create database tried template bezant owner bezant')
  await admin.close()
  const tried = openAsOwner({ url: urlOf('bezant', 'of-the-owner', 'tried') })
  await insertEntity(tried, { ...sandboxEntity, nowMs: Date.now() })
  await tried.close()
}

async function openSite() {
  const { folder, unavoidable } = await openFolder()
  const server = await openKeptServer(postgres!, soundServer)
  cleanups.push(server.close)
  const { chains, stop } = await startTestChains({ blockchains: ['BASE'] as never })
  cleanups.push(stop)
  const trust = `sslmode=verify-full&sslrootcert=${server.certificate}`
  const urlOf = (user: string, password: string, name: string) =>
    `postgresql://${user}:${password}@localhost:${server.port}/${name}?${trust}`
  await makeDatabases(urlOf)
  const dataDir = join(folder, 'data')
  await mkdir(dataDir, { mode: 0o700 })
  await writeFile(join(dataDir, 'root.key'), `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 })
  await writeFile(join(folder, 'token'), 'of-the-provider', { mode: 0o600 })
  await writeFile(join(folder, 'networks'), networksAt(chains[0]!.rpcUrl), { mode: 0o644 })
  const environment: Environment = {
    DATABASE_URL: urlOf('bezant_app', 'of-the-app', 'bezant'),
    BEZANT_DATA_DIR: dataDir,
    BEZANT_NETWORKS_FILE: join(folder, 'networks'),
    BEZANT_SCREENING_TOKEN_FILE: join(folder, 'token'),
    ...documentedSettings(),
  }
  return { folder, unavoidable, server, dataDir, environment }
}

/** The settings that docs/operate.md gives for production. */
function documentedSettings(): Environment {
  const [, section] = readFileSync('docs/operate.md', 'utf8').split('## Before the first real money\n')
  const exports = section!.split('\n## ')[0]!.matchAll(/^export (\w+)=(\S+)$/gm)
  const settings = Object.fromEntries([...exports].map(([, name, value]) => [name!, value!]))
  expect(Object.keys(settings)).toContain('BEZANT_PUBLIC_URL')
  return settings
}

const networksAt = (rpcUrl: string) => JSON.stringify([{ blockchain: 'BASE', rpcUrl }])

/** Settings as a laptop has them; those of an installation that are not here are unset. */
function faultyEnvironment(folder: string, port: number, journals: string): Environment {
  const at = (hosts: string) => `postgresql://bezant_app@${hosts}/tried`
  return {
    DATABASE_URL: at(`127.0.0.1:${port},standby.invalid`),
    BEZANT_DIRECT_DATABASE_URL: at(`127.0.0.1:${port}`),
    BEZANT_READ_DATABASE_URL: at('replica.invalid'),
    BEZANT_DATA_DIR: join(folder, 'data'),
    BEZANT_JOURNAL_DIR: journals,
    BEZANT_NETWORKS: networksAt('http://node.invalid'),
    BEZANT_SCREENING_TOKEN_FILE: join(folder, 'token'),
    BEZANT_PUBLIC_URL: 'http://localhost:4020',
    BEZANT_HOST: '0.0.0.0',
    BEZANT_PAGE_NODE_MS: '0',
    BEZANT_NOTIFICATION_TARGETS: 'private',
    BEZANT_PASSKEY_ORIGINS: 'loopback',
    BEZANT_SMTP_URL: 'smtp://mail.invalid',
    BEZANT_CROSSCHAIN_ENVIRONMENT: 'TEST',
    BEZANT_ATTESTERS: JSON.stringify([
      { publicKey: `0x04${'1'.repeat(128)}`, url: 'https://attester.invalid', token: 'LIVE_API_KEY:a:b' },
    ]),
    BEZANT_FAILPOINT: 'after-attempt-commit:3',
    NODE_OPTIONS: '--inspect',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  }
}

const seeded = [
  // Of the settings that are there, and of those that are not.
  ...[
    'BEZANT_PUBLIC_URL',
    'BEZANT_CHALLENGE_URL',
    'BEZANT_HOST',
    'BEZANT_PROXIES',
    'BEZANT_REQUESTS_PER_SECOND',
  ],
  ...['BEZANT_PAGE_NODE_MS', 'BEZANT_NOTIFICATION_TARGETS', 'BEZANT_PASSKEY_ORIGINS', 'BEZANT_SMTP_URL'],
  ...['BEZANT_MAIL_FROM', 'BEZANT_NETWORKS', 'BEZANT_CROSSCHAIN_ENVIRONMENT', 'BEZANT_ATTESTATION_THRESHOLD'],
  ...['BEZANT_REVIEW_APPROVERS', 'randomness of the root key', 'BEZANT_FAILPOINT', 'NODE_OPTIONS'],
  'NODE_TLS_REJECT_UNAUTHORIZED',
  // Of files.
  ...['rights on the data directory', 'rights on root.key', 'rights on journals and guesses'],
  ...['rights on files of settings', 'storage of journals and guesses'],
  // Of the database.
  ...[
    'DATABASE_URL',
    'BEZANT_DIRECT_DATABASE_URL',
    'BEZANT_READ_DATABASE_URL',
    'rights of the database user',
  ],
  ...['wal_level', 'archive_mode', 'data_checksums', 'autovacuum', 'track_counts', 'password_encryption'],
  'entity of the sandbox',
  // Of the checks of every server: fsync, the replica and the node that do not answer.
  ...['database', 'read replicas', 'endpoints of chains'],
]

it.runIf(postgres)(
  'property 297: every unsafe setting of an installation is named, and none of a sound one',
  async () => {
    const { folder, unavoidable, server, dataDir, environment } = await openSite()
    expect([...(await faultsOf(environment)).keys()]).toEqual(unavoidable)

    const rootKey = join(dataDir, 'root.key')
    const journals = await mkdtemp('/dev/shm/bezant-journals-')
    cleanups.push(() => rm(journals, { recursive: true }))
    await writeFile(rootKey, `${'ab'.repeat(32)}\n`)
    for (const path of [rootKey, join(folder, 'token')]) await chmod(path, 0o644)
    for (const path of [dataDir, journals]) await chmod(path, 0o755)
    server.become(faultyServer)
    await asAdministrator(server.port, 'alter role bezant_app createdb; grant bezant to bezant_app')
    const faulty = faultyEnvironment(folder, server.port, journals)
    const found = await faultsOf(faulty)
    expect([...found.keys()].sort()).toEqual([...seeded].sort())
    // Each reason is named, where a thing is unsafe for two.
    expect(found.get('DATABASE_URL')).toMatch(
      /not encrypted.*standby\.invalid.*127\.0\.0\.1 asks for no password/,
    )
    expect(found.get('BEZANT_NETWORKS')).toMatch(/plain http.*one foreign provider/)
    expect(found.get('rights of the database user')).toMatch(/bezant_app owns tables.*may create databases/)
    expect(found.get('rights on files of settings')).toContain('BEZANT_SCREENING_TOKEN_FILE')

    await writeFile(rootKey, `${randomBytes(32).toString('hex')}\n`)
    for (const path of [rootKey, join(folder, 'token')]) await chmod(path, 0o600)
    await chmod(dataDir, 0o700)
    await asAdministrator(server.port, 'alter role bezant_app nocreatedb; revoke bezant from bezant_app')
    server.become(soundServer)
    expect([...(await faultsOf(environment)).keys()]).toEqual(unavoidable)
  },
)

async function asAdministrator(port: number, statements: string): Promise<void> {
  const admin = openAsOwner({ url: `postgresql://postgres@127.0.0.1:${port}/postgres` })
  await admin.script(statements).finally(admin.close)
}

it('refuses a sandbox, which is no place for money', async () => {
  const { code, stdout, stderr } = await runCommand({
    command: 'doctor',
    args: ['--production', '--for', 'sandbox'],
  })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain('leave out --for sandbox')
})
