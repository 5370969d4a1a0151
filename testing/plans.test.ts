/** Operators' lists are read through indexes in their order, so that the cost of a page does not grow with the table. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { policyHistory } from '#custody/index'
import { entriesPage, post, walletEntries } from '#engines/ledger/index'
import { newId } from '#lib/ids'
import { type Db, openAsOwner, raw, type Sql, sql } from '#runtime/db/db'
import { openTestDatabase, type TestDatabase } from './database.ts'

const rowsTotal = 4_000
const nowMs = Date.now()
const entityId = newId(nowMs)

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

/** Query plans of the queries that `ask` makes, with current statistics. */
async function plansOf(table: string, ask: (db: Db) => Promise<unknown>): Promise<string[]> {
  const owner = openAsOwner(test.connection)
  await owner.run(raw(`analyze ${table}`))
  await owner.close()
  const queries: Sql[] = []
  const all: Db['all'] = (query) => {
    queries.push(query)
    return test.database.all(query)
  }
  await ask({ ...test.database, all })
  return Promise.all(
    queries.map(async (query) => {
      const plan = await test.database.all<{ 'QUERY PLAN': string }>(sql`explain ${query}`)
      return plan.map((line) => line['QUERY PLAN']).join('\n')
    }),
  )
}

it('finds a page of the entries of an account that all others share', async () => {
  const postings = Array.from({ length: rowsTotal }, (_, index) => ({
    entityId,
    blockchain: '',
    blockHash: '',
    fact: `made:${index}`,
    entries: walletEntries('1000', 'USD', 1n),
  }))
  await test.database.tx((tx) => post(tx, nowMs, postings))
  const { id } = await test.database.one<{ id: string }>(
    sql`select id from accounts where entity_id = ${entityId} and kind = 'settlement'`,
  )
  const page = {
    fromMs: undefined,
    toMs: nowMs,
    pageSize: 50,
    pageBefore: undefined,
    order: 'DESC',
  } as const
  const first = await entriesPage(test.database, entityId, id, { ...page, pageAfter: undefined })
  for (const pageAfter of [undefined, first.rows.at(-1)!.id]) {
    const plans = await plansOf('entries', (db) => entriesPage(db, entityId, id, { ...page, pageAfter }))
    expect(plans).toEqual([expect.stringMatching(/using entries_of_account/)])
    expect(plans[0]).not.toMatch(/Seq Scan|Sort/)
  }
})

it('finds freezes among all events of an entity', async () => {
  await test.database.run(sql`insert into audit (entity_id, id, actor, action, resource_id, create_date)
    select ${entityId}, gen_random_uuid(), 'customer', 'transaction.created', n, now() from generate_series(1, ${rowsTotal}) n`)
  for (const subjectId of [undefined, randomUUID()]) {
    const plans = await plansOf('audit', (db) => policyHistory(db, entityId, subjectId, 20))
    const ofAudit = plans.filter((plan) => plan.includes('audit'))
    expect(ofAudit).toEqual([expect.stringMatching(/using audit_of_freezes/)])
  }
})
