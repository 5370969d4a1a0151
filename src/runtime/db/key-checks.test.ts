import { afterAll, beforeAll, expect } from 'vitest'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { itOnOneServer } from '#testing/databases/one-server'
import { openAsOwner, raw } from './db.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test.close())

/**
 * Checks by another index that has the id too read few rows: the replacements of an attempt, the receivers of a message; the one row of
 * an address, by an index of the same columns.
 */
const harmless = ['attempts', 'managed_addresses', 'notification_deliveries', 'payment_intents']

type Key = { table: string; index: string; condition: string }

const keysReferredTo =
  raw(`select distinct c.confrelid::regclass::text as table, c.conindid::regclass::text as index,
    (select string_agg(format('%I = $%s', a.attname, k.n), ' and ' order by k.n)
      from unnest(c.confkey) with ordinality as k (attnum, n)
      join pg_attribute a on a.attrelid = c.confrelid and a.attnum = k.attnum) as condition
  from pg_constraint c where c.contype = 'f' and cardinality(c.confkey) > 1 and not c.confrelid::regclass::text = any('{${harmless}}')`)

itOnOneServer(
  'checks foreign keys by the key they refer to, also when that was planned while the tables were empty',
  async () => {
    const owner = openAsOwner(test.connection)
    const keys = await owner.all<Key>(keysReferredTo)
    expect(keys.length).toBeGreaterThan(5)
    for (const { table, index, condition } of keys) {
      // The query of PostgreSQL's own check.
      const check = `select 1 from only ${table} x where ${condition} for key share`
      const plan = await owner.all<{ 'QUERY PLAN': string }>(raw(`explain (generic_plan) ${check}`))
      expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toContain(`using ${index} on ${table}`)
    }
    await owner.close()
  },
)
