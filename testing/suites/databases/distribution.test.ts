import { parsePlPgSQLSync, parseSync } from 'libpg-query'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { distributeTables, forgottenTables, tableKind } from '#runtime/db/distribute'
import { distributedForms } from '#runtime/db/migrate'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { itOnOneServer } from '#testing/databases/one-server'
import { membersOf, namesIn, type Part, partOf } from '#testing/databases/statement-parts'
import { readCoordinatorRelations, readMigrations } from '#testing/databases/tenant-columns'

let test: TestDatabase
let owner: Database
beforeAll(async () => {
  test = await openTestDatabase()
  owner = openAsOwner(test.connection)
  await owner.script(await distributedForms())
})
afterAll(async () => {
  await owner?.close()
  await test?.close()
})

type Table = { name: string; hasEntityId: boolean }
const kinds = async () => {
  const tables = await owner.all<Table>(sql`select c.relname as name, exists (select 1 from pg_attribute a
      where a.attrelid = c.oid and a.attname = 'entity_id') as has_entity_id
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`)
  return new Map(tables.map((table) => [table.name, tableKind(table)]))
}
const tenantOf = (table: string) => (table === 'entities' ? 'id' : 'entity_id')

/** The tables and CTEs that a statement or an expression of PL/pgSQL reads, and those CTEs. */
function relationsIn(text: string): { read: string[]; own: string[] } {
  const value = text.replace(/^\s*[\w.]+(\[[^\]]*\])?\s*:=/, '')
  const statement = /^\s*(select|with|insert|update|delete)\b/i.test(value) ? value : `select ${value}`
  const parsed = parseSync(statement) as Part
  return { read: namesIn(parsed, 'RangeVar', 'relname'), own: namesIn(parsed, 'CommonTableExpr', 'ctename') }
}

/** The tables that each statement and expression of a function in PL/pgSQL reads. */
const statementsOf = (body: string) =>
  [...membersOf(parsePlPgSQLSync(body))].flatMap((each) => {
    const text = partOf(each, 'PLpgSQL_expr')?.['query']
    return typeof text === 'string' ? [relationsIn(text)] : []
  })

describe('property 287: every table can be distributed by its kind', () => {
  itOnOneServer(
    'keys of tenants name the tenant, and foreign keys stay with one tenant or lead to shared tables',
    async () => {
      const kindOf = await kinds()
      expect([...kindOf.values()].filter((kind) => kind === 'tenants').length).toBeGreaterThan(100)
      const unique = await owner.all<{
        name: string
        table: string
        columns: string[]
      }>(sql`select i.relname as name,
        c.relname as table, array(select a.attname::text from pg_attribute a where a.attrelid = i.oid) as columns
      from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class c on c.oid = x.indrelid
      where x.indisunique and c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`)
      expect(
        unique.filter(
          ({ table, columns }) => kindOf.get(table) === 'tenants' && !columns.includes(tenantOf(table)),
        ),
      ).toEqual([])
      type Key = { name: string; from: string; to: string; pairs: string[] }
      const foreign =
        await owner.all<Key>(sql`select k.conname as name, c.relname as "from", f.relname as "to",
        array(select a.attname || '>' || b.attname from unnest(k.conkey, k.confkey) as n(x, y)
          join pg_attribute a on a.attrelid = k.conrelid and a.attnum = n.x
          join pg_attribute b on b.attrelid = k.confrelid and b.attnum = n.y) as pairs
      from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class f on f.oid = k.confrelid where k.contype = 'f'`)
      const fits = ({ from, to, pairs }: Key) => {
        const [ofRows, ofKeys] = [kindOf.get(from), kindOf.get(to)]
        if (ofKeys === 'tenants')
          return ofRows === 'tenants' && pairs.includes(`${tenantOf(from)}>${tenantOf(to)}`)
        return ofKeys === 'shared' || ofRows === 'local'
      }
      expect(foreign.filter((key) => !fits(key))).toEqual([])
    },
  )

  it('the form of a trigger for distributed servers follows the migration that made it last', async () => {
    const stated = [
      ...(await distributedForms()).matchAll(/^-- (\d{4})\ncreate or replace function (\w+)\(\)/gm),
    ].map(([, number, name]) => `${name} ${number}`)
    expect(stated.length).toBeGreaterThan(11)
    const made = new Map<string, string>()
    for (const { name, text } of readMigrations())
      for (const [, of] of text.matchAll(/\bfunction (\w+)\(\) returns trigger/g))
        made.set(of!, name.slice(0, 4))
    expect(stated).toEqual(stated.map((each) => `${each.split(' ')[0]} ${made.get(each.split(' ')[0]!)}`))
  })

  it('triggers of shared tables, which each node fires, only refuse', async () => {
    const kindOf = await kinds()
    const triggers = await owner.all<{
      table: string
      body: string
    }>(sql`select c.relname as table, p.prosrc as body
      from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
      where not t.tgisinternal and c.relnamespace = 'public'::regnamespace`)
    const shared = triggers.filter(({ table }) => kindOf.get(table) !== 'tenants')
    expect(shared.length).toBeGreaterThan(5)
    for (const { table, body } of shared) {
      expect(body, table).toMatch(/\braise exception\b/)
      expect(body, table).not.toMatch(/\b(insert|update|delete|perform|execute)\b|:=|\binto\b/i)
    }
  })

  it('no right is one on columns, which shards lose that move', async () => {
    const onColumns =
      await owner.all(sql`select c.relname, a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'public'::regnamespace and a.attacl is not null and cardinality(a.attacl) > 0`)
    expect(onColumns).toEqual([])
  })

  itOnOneServer(
    'no trigger that a truncation fires refuses anything else, since no shard has it',
    async () => {
      const mixed = await owner.all(sql`select tgname from pg_trigger
      where not tgisinternal and (tgtype & 32) <> 0 and (tgtype & (4 | 8 | 16)) <> 0`)
      expect(mixed).toEqual([])
    },
  )

  it('statements of triggers never join transition tables with other tables', async () => {
    const functions = await owner.all<{ name: string; body: string }>(sql`select distinct p.proname as name,
        pg_get_functiondef(p.oid) as body
      from pg_trigger t join pg_proc p on p.oid = t.tgfoid where t.tgnewtable is not null`)
    expect(functions.length).toBeGreaterThan(9)
    for (const { name, body } of functions) {
      const reading = statementsOf(body).filter(({ read }) => read.includes('added'))
      expect(reading.length, name).toBeGreaterThan(0)
      for (const { read, own } of reading)
        expect(
          read.filter((each) => each !== 'added' && !own.includes(each)),
          name,
        ).toEqual([])
    }
  })

  it('triggers of tenants read nothing that the coordinator alone has', async () => {
    const kindOf = await kinds()
    const triggers = await owner.all<{
      table: string
      name: string
      body: string
    }>(sql`select distinct c.relname as table,
        p.proname as name, pg_get_functiondef(p.oid) as body
      from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
      where not t.tgisinternal and c.relnamespace = 'public'::regnamespace`)
    const ofCoordinator = readCoordinatorRelations()
    const ofTenants = triggers.filter(({ table }) => kindOf.get(table) === 'tenants')
    expect(ofTenants.length).toBeGreaterThan(30)
    for (const { name, body } of ofTenants)
      for (const { read } of statementsOf(body))
        expect(
          read.filter((each) => ofCoordinator.has(each)),
          name,
        ).toEqual([])
  })

  itOnOneServer('a server without Citus is told so, and nothing of it is missing', async () => {
    await expect(distributeTables(test.connection, () => undefined)).rejects.toThrow(
      /cannot be distributed: nothing was changed|the extension citus is not in this database/,
    )
    expect(await forgottenTables(test.database)).toEqual([])
  })
})
