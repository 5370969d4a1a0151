import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cloneDatabase } from '../../../testing/database.ts'
import { type Connection, type Database, openAsOwner, openDatabase, sql } from './db.ts'
import { migrate } from './migrate.ts'

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
      for (const column of await columnsOf(table))
        await expect(
          runtime.script(`update ${table} set ${column} = ${column}`),
          table,
        ).rejects.toMatchObject(denied)
      await expect(runtime.script(`delete from ${table}`), table).rejects.toMatchObject(denied)
      await expect(runtime.script(`truncate ${table}`), table).rejects.toMatchObject(denied)
      await expect(runtime.script(`alter table ${table} disable trigger all`), table).rejects.toMatchObject(
        denied,
      )
      await expect(runtime.script(`drop table ${table}`), table).rejects.toMatchObject(denied)
    }
  })

  it('cannot rewrite signed bytes, only their state', async () => {
    const open = ['state', 'lease_until', 'fencing_token', 'broadcast_count', 'last_error']
    for (const column of await columnsOf('attempts')) {
      const change = runtime.script(`update attempts set ${column} = ${column}`)
      if (open.includes(column)) await change
      else await expect(change, column).rejects.toMatchObject(denied)
    }
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
    await refused.close()
    await owner.script(`grant bezant_runtime to "${login}"`)
    expect(await migrate(connectionOfLogin)).toEqual([])
    const database = openDatabase(connectionOfLogin, 1)
    try {
      expect(await database.one(sql`select count(*)::int as count from entities`)).toEqual({ count: 1 })
      await database.script('reset role')
      await expect(database.script('update entries set amount = 1')).rejects.toMatchObject(denied)
    } finally {
      await database.close()
    }
  })
})

function asUser(place: Connection, user: string, password: string): Connection {
  if (!('url' in place)) return { ...place, user, password }
  const url = new URL(place.url)
  url.username = user
  url.password = password
  return { url: url.href }
}
