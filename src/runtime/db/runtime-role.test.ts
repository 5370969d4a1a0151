import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cloneDatabase } from '#testing/databases/database'
import { type Connection, type Database, openAsOwner, openDatabase, sql } from './db.ts'
import { migrate, requireTables } from './migrate.ts'

const denied = { code: '42501' }
const login = `bezant_login_${randomBytes(5).toString('hex')}`
let connection: Connection
let owner: Database
let runtime: Database
let drop: () => Promise<void>

beforeAll(async () => {
  ;({ connection, drop } = await cloneDatabase('seeded'))
  owner = openAsOwner(connection)
  runtime = openDatabase(connection, 2)
})
afterAll(async () => {
  await runtime.close()
  await owner.script(`drop role if exists "${login}"`)
  await owner.close()
  await drop()
})

const names = async (query: ReturnType<typeof sql>) =>
  (await owner.all<{ name: string }>(query)).map(({ name }) => name)

/** Append-only tables, found by their trigger: a new one is included without being named. */
const appendOnly = () =>
  names(sql`select distinct c.relname as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
    join pg_proc p on p.oid = t.tgfoid where p.proname = 'refuse_change' order by 1`)

const columnsOf = (table: string) =>
  names(sql`select column_name as name from information_schema.columns
    where table_schema = 'public' and table_name = ${table} order by 1`)

/** Tables of which some columns change, and the others never. */
const changing: Record<string, readonly string[]> = {
  accounts: ['update_date'],
  attempts: [
    'state',
    'lease_until',
    'fencing_token',
    'broadcast_count',
    'last_error',
    'accepted_at',
    'death_proof',
  ],
  attestation_keys: ['retired_date', 'sealed_private_key'],
  challenges: ['status', 'correlation_ids', 'error_code', 'error_message', 'update_date'],
  passkeys: ['counter', 'update_date'],
  screening_entries: ['to_version'],
  user_token_keys: ['sealed_private_key'],
  webhook_keys: ['sealed_private_key', 'sealed_ed25519_private_key'],
}

describe('property 10: the role that the program runs as', () => {
  it('is the one that every connection of the program has', async () => {
    expect(await runtime.one(sql`select current_user as role`)).toEqual({ role: 'bezant_runtime' })
  })

  it('cannot change, delete or empty books, trails and signatures', async () => {
    const tables = await appendOnly()
    expect(tables).toEqual(
      expect.arrayContaining([
        'audit',
        'entries',
        'events',
        'hold_resolutions',
        'holds',
        'postings',
        'signatures',
      ]),
    )
    for (const table of tables) {
      for (const column of await columnsOf(table)) {
        const change = runtime.script(`update ${table} set ${column} = ${column}`)
        // A rotation of the root key seals private keys again.
        if (column.startsWith('sealed_')) await change
        else await expect(change, table).rejects.toMatchObject(denied)
      }
      await expect(runtime.script(`delete from ${table}`), table).rejects.toMatchObject(denied)
      await expect(runtime.script(`truncate ${table}`), table).rejects.toMatchObject(denied)
      await expect(runtime.script(`alter table ${table} disable trigger all`), table).rejects.toMatchObject(
        denied,
      )
      await expect(runtime.script(`drop table ${table}`), table).rejects.toMatchObject(denied)
    }
  })

  it.each(Object.entries(changing))('can change some columns of %s alone', async (table, open) => {
    for (const column of await columnsOf(table)) {
      const change = runtime.script(`update ${table} set ${column} = ${column}`)
      if (open.includes(column)) await change
      else await expect(change, column).rejects.toMatchObject(denied)
    }
    await expect(runtime.script(`alter table ${table} disable trigger all`)).rejects.toMatchObject(denied)
    await expect(runtime.script('set session_replication_role = replica')).rejects.toMatchObject(denied)
  })

  it('cannot delete signed bytes', async () => {
    await expect(runtime.script('delete from attempts')).rejects.toMatchObject(denied)
  })

  it('cannot set a balance past its entries and holds', async () => {
    for (const column of ['posted', 'held', 'entity_id', 'token_id', 'address', 'kind'])
      await expect(runtime.script(`update accounts set ${column} = ${column}`)).rejects.toMatchObject(denied)
    await expect(runtime.script('delete from accounts')).rejects.toMatchObject(denied)
  })

  it('cannot pretend that a migration was applied', async () => {
    await expect(runtime.script(`insert into schema_migrations values ('x', 'x')`)).rejects.toMatchObject(
      denied,
    )
    await expect(runtime.script('create table mine ()')).rejects.toMatchObject(denied)
  })
})

describe('a user whose only privilege is to log in', () => {
  it('runs the program on a database that another user migrates, and cannot leave the role', async () => {
    const password = randomBytes(8).toString('hex')
    await owner.script(`create role "${login}" login password '${password}'`)
    const connectionOfLogin = asUser(connection, login, password)
    const refused = openDatabase(connectionOfLogin, 1)
    await expect(refused.run(sql`select 1`)).rejects.toMatchObject(denied)
    await expect(migrate(connectionOfLogin)).rejects.toThrow(`run "grant bezant_runtime to "${login}""`)
    await refused.close()
    await owner.script(`grant bezant_runtime to "${login}"`)
    expect(await migrate(connectionOfLogin)).toEqual([])
    const database = openDatabase(connectionOfLogin, 1)
    try {
      expect(await database.one(sql`select count(*)::int as count from entities`)).toEqual({ count: 1 })
      await database.script('reset role')
      for (const change of ['entries set amount = 1', 'accounts set posted = 1', 'attempts set nonce = 1'])
        await expect(database.script(`update ${change}`), change).rejects.toMatchObject(denied)
    } finally {
      await database.close()
    }
  })
})

/** Every right in the database that concerns the role: on tables, columns, functions, schemas, and on tables to come. */
const allRights = (of: Database) =>
  of.all<{ name: string }>(sql`
    select c.relname::text || ' ' || acl::text as name from pg_class c, unnest(c.relacl) acl
      where c.relnamespace = 'public'::regnamespace and acl::text like 'bezant_runtime=%'
    union all select a.attrelid::regclass::text || '.' || a.attname || ' ' || acl::text from pg_attribute a, unnest(a.attacl) acl
      where acl::text like 'bezant_runtime=%'
    union all select p.proname::text || ' ' || acl::text from pg_proc p, unnest(p.proacl) acl
      where acl::text like 'bezant_runtime=%'
    union all select nspname::text || ' ' || acl::text from pg_namespace, unnest(nspacl) acl where acl::text like 'bezant_runtime=%'
    union all select defaclobjtype::text || ' ' || acl::text from pg_default_acl, unnest(defaclacl) acl
      where acl::text like 'bezant_runtime=%'
    order by 1`)

describe('property 136: a copy that was restored on a server without the role', () => {
  it('lacks all grants: commands name the remedy, and the migration grants again what the migrations granted', async () => {
    const { connection: place, drop: dropCopy } = await cloneDatabase('seeded')
    const copy = openAsOwner(place)
    try {
      const before = await allRights(copy)
      expect(before.length).toBeGreaterThan(100)
      await copy.script('drop owned by bezant_runtime')
      await copy.script('alter default privileges in schema public revoke all on tables from bezant_runtime')
      expect(await allRights(copy)).toEqual([])
      await expect(requireTables(place)).rejects.toThrow(
        /has no rights on the tables, .*: run "bezant migrate" as the user who owns the tables/,
      )
      const repaired: string[] = []
      expect(await migrate(place, (what) => repaired.push(what))).toEqual([])
      expect(repaired).toEqual(['granted the rights on the tables to bezant_runtime again'])
      expect(await allRights(copy)).toEqual(before)
      await requireTables(place)
    } finally {
      await copy.close()
      await dropCopy()
    }
  })
})

describe('property 136: an owner of a database who is no member of the role', () => {
  it('is told the statement that an administrator has to run, or becomes a member where it may', async () => {
    const owning = `bezant_owner_${randomBytes(5).toString('hex')}`
    const password = randomBytes(8).toString('hex')
    await owner.script(`create role "${owning}" login password '${password}'`)
    await owner.script(`create database "${owning}" owner "${owning}"`)
    const place = asUser(connection, owning, password, owning)
    const remedy = `as an administrator of the server, run "grant bezant_runtime to "${owning}""`
    try {
      await expect(migrate(place)).rejects.toThrow(remedy)
      await owner.script(`grant bezant_runtime to "${owning}"`)
      expect((await migrate(place)).length).toBeGreaterThan(0)
      await owner.script(`revoke bezant_runtime from "${owning}"`)
      await expect(requireTables(place)).rejects.toThrow(remedy)
      await expect(migrate(place)).rejects.toThrow(remedy)
      await owner.script(`alter role "${owning}" createrole`)
      const { isFree } = await owner.one<{ isFree: boolean }>(
        sql`select current_setting('server_version_num')::int < 160000 as is_free`,
      )
      // From PostgreSQL 16 on, the option is needed too.
      if (!isFree) await owner.script(`grant bezant_runtime to "${owning}" with admin true, set false`)
      const repaired: string[] = []
      expect(await migrate(place, (what) => repaired.push(what))).toEqual([])
      expect(repaired).toEqual([`granted bezant_runtime to ${owning}`])
      const database = openDatabase(place, 1)
      expect(await database.one(sql`select current_user as role`)).toEqual({ role: 'bezant_runtime' })
      await database.close()
    } finally {
      await owner.script(`drop database "${owning}"`)
      await owner.script(`drop role "${owning}"`)
    }
  })
})

function asUser(place: Connection, user: string, password: string, database?: string): Connection {
  if (!('url' in place)) return { ...place, user, password, ...(database && { database }) }
  const url = new URL(place.url)
  if (database) url.pathname = `/${database}`
  url.username = user
  url.password = password
  return { url: url.href }
}
