import { afterEach, expect, it, vi } from 'vitest'
import { transportOf } from '#runtime/db/transport'
import { serverRules } from './database.ts'
import type { ServerFacts } from './store.ts'

afterEach(() => vi.unstubAllEnvs())

const sound: ServerFacts = {
  user: 'bezant_app',
  settings: {
    archive_command: 'pgbackrest --stanza=bezant archive-push %p',
    archive_library: '',
    archive_mode: 'on',
    autovacuum: 'on',
    data_checksums: 'on',
    password_encryption: 'scram-sha-256',
    track_counts: 'on',
    wal_level: 'replica',
  },
  isSuperuser: false,
  createsRoles: false,
  createsDatabases: false,
  replicates: false,
  bypassesRows: false,
  writesAll: false,
  owns: false,
  hasSlot: false,
  archivesInVain: false,
}

const named = async ({ settings, ...facts }: Partial<ServerFacts>) => {
  const server = { ...sound, ...facts, settings: { ...sound.settings, ...settings } }
  const found = await Promise.all(
    serverRules.map(async ({ name, faults }) => ({ name, of: await faults(server) })),
  )
  return found.filter(({ of }) => of.some(Boolean)).map(({ name }) => name)
}

it.each<Partial<ServerFacts>>([
  {},
  // A receiver such as pg_receivewal keeps the log.
  { settings: { archive_mode: 'off', archive_command: '(disabled)' }, hasSlot: true },
  { settings: { archive_command: '', archive_library: 'basic_archive' } },
  { settings: { wal_level: 'logical' } },
])('finds nothing amiss with the sound server %j', async (change) => {
  expect(await named(change)).toEqual([])
})

it.each<[string, Partial<ServerFacts>]>([
  ['archive_mode', { settings: { archive_mode: 'off', archive_command: '(disabled)' } }],
  ['archive_mode', { settings: { archive_command: '' } }],
  ['archive_mode', { archivesInVain: true }],
  ['rights of the database user', { isSuperuser: true }],
  ['rights of the database user', { createsRoles: true }],
  ['rights of the database user', { createsDatabases: true }],
  ['rights of the database user', { replicates: true }],
  ['rights of the database user', { bypassesRows: true }],
  ['rights of the database user', { writesAll: true }],
  ['rights of the database user', { owns: true }],
])('names %s, and nothing else, of %j', async (name, change) => {
  expect(await named(change)).toEqual([name])
})

it.each([
  ['', 'none'],
  ['?sslmode=disable', 'none'],
  ['?sslmode=no-verify', 'unverified'],
  ['?sslmode=require&uselibpqcompat=true', 'unverified'],
  ['?sslmode=verify-full', 'verified'],
])('reads how a connection with %j is protected', (query, encryption) => {
  const url = `postgresql://bezant_app@db.example/bezant${query}`
  expect(transportOf(url)).toEqual({ hosts: ['db.example'], encryption })
})

it('reads every server of a URL, a socket, and the variables of the driver', () => {
  const hosts = (url: string) => transportOf(url).hosts
  expect(hosts('postgresql://u@one:5432,two/bezant')).toEqual(['one', 'two'])
  expect(hosts('postgresql://u@localhost/bezant?host=/run/postgresql')).toEqual(['/run/postgresql'])
  vi.stubEnv('PGSSLMODE', 'verify-full')
  expect(transportOf('postgresql://u@db.example/bezant').encryption).toBe('verified')
})
