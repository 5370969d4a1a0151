/** Operators' lists are read through indexes in their order, so that the cost of a page does not grow with the table. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { policyHistory } from '#custody/policy/index'
import { entriesPage, post, walletEntries } from '#engines/ledger/index'
import { notificationsPage } from '#engines/webhooks/index'
import { newId } from '#lib/ids'
import { type Db, openAsOwner, raw, type Sql, sql } from '#runtime/db/db'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'

const rowsTotal = 4_000
const nowMs = Date.now()
/** Later than any row that these tests write, however long they take. */
const laterMs = nowMs + 86_400_000
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

it('finds notifications by the state of a delivery alone, few or many among all', async () => {
  await test.database.run(sql`with subscription as (
      insert into notification_subscriptions (entity_id, id, endpoint, base_url, environment, create_date, update_date)
      values (${entityId}, gen_random_uuid(), 'https://receiver.example', '', 'TEST', now(), now()) returning id),
    added as (
      insert into notifications (entity_id, id, topic, resource_id, message, create_date)
      select ${entityId}, gen_random_uuid(), 'payments', n, '{}', now() - n * interval '1 second'
      from generate_series(1, ${rowsTotal}) n returning entity_id, id, resource_id, create_date)
    insert into notification_deliveries (entity_id, subscription_id, message_id, resource_id, state, due_date, create_date,
      update_date)
    select a.entity_id, s.id, a.id, a.resource_id,
      case when a.resource_id::integer % 1000 = 0 then 'failed' else 'delivered' end, now(), now(), now()
    from added a cross join subscription s`)
  const page = { fromMs: undefined, toMs: laterMs, pageSize: 50, order: 'DESC' } as const
  const cursor = { pageAfter: undefined, pageBefore: undefined }
  const list = (state: 'failed' | 'delivered') => (db: Db) =>
    notificationsPage(db, entityId, { state }, { ...page, ...cursor })
  expect((await list('failed')(test.database)).rows).toHaveLength(rowsTotal / 1000)
  const expected = [
    ['failed', /using notification_deliveries_undelivered/],
    ['delivered', /using notifications_page/],
  ] as const
  for (const [state, index] of expected) {
    await plansOf('notification_deliveries', list(state))
    const plans = await plansOf('notifications', list(state))
    expect(plans).toEqual([expect.stringMatching(index)])
    expect(plans[0]).not.toMatch(/Seq Scan on notification(s|_deliveries)/)
  }
})
