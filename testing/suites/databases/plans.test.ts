/** Operators' lists are read through indexes in their order, so that the cost of a page does not grow with the table. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { policyHistory } from '#custody/policy/index'
import { entriesPage, post, walletEntries } from '#engines/ledger/index'
import { movementsPage } from '#engines/movements/index'
import { notificationsPage } from '#engines/webhooks/index'
import { newId } from '#lib/ids'
import { type Db, openAsOwner, raw, type Sql, sql } from '#runtime/db/db'
import { requestsPage } from '#runtime/request-log/store'
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

/** A row for each number of `n`, of which one in a hundred is not complete. */
const movementRows: Record<string, string> = {
  transactions: `id, blockchain, wallet_id, address, transaction_type, custody_type, state, operation, source_address,
      destination_address, tx_hash, create_date, update_date) select $entity, $id, $chain, $some, 'a', 'OUTBOUND', 'DEVELOPER',
      case when n % 100 = 0 then 'FAILED' else 'COMPLETE' end, 'TRANSFER', $address, 'other', $hash, $date, $date`,
  payments: `id, type, status, merchant_wallet_id, currency, decimals, amount, chain, blockchain, from_address, deposit_address,
      token_id, transaction_hash, ordinal, block_number, create_date, update_date) select $entity, $id, 'payment',
      case when n % 100 = 0 then 'failed' else 'paid' end, '1', 'USD', 6, 1, 'BASE', $chain, $address, 'other', $some, $hash, 0,
      1, $date, $date`,
  payouts: `id, status, wallet_id, recipient_id, chain, blockchain, to_address, currency, token_id, amount, transaction_hash,
      create_date, update_date) select $entity, $id, case when n % 100 = 0 then 'failed' else 'complete' end, '1', $some, 'BASE',
      $chain, $address, 'USD', $some, 1, $hash, $date, $date`,
  transfers: `id, direction, status, wallet_id, chain, blockchain, from_address, to_address, currency, token_id, decimals, amount,
      transaction_hash, create_date, update_date) select $entity, $id, 'out',
      case when n % 100 = 0 then 'failed' else 'complete' end, '1', 'BASE', $chain, null, $address, 'USD', $some, 6, 1, $hash,
      $date, $date`,
  sweeps: `id, status, blockchain, token_id, from_address, to_address, amount, create_date, update_date) select $entity, $id,
      case when n % 100 = 0 then 'failed' else 'complete' end, $chain, $some, $address, 'treasury', 1, $date, $date`,
  fiat_deposits: `id, wallet_id, currency, decimals, amount, tracking_ref, account_number, blockchain, address, state,
      transaction_hash, create_date, update_date) select $entity, $id, '1', 'USD', 6, 1, '', '', $chain, 'treasury',
      case when n % 100 = 0 then 'failed' else 'complete' end, $hash, $date, $date`,
  user_operations: `id, wallet_id, blockchain, sender, nonce, user_op_hash, operation, state, tx_hash, create_date, update_date)
      select $entity, $id, $some, $chain, $address, n, $hash, '{}',
      case when n % 100 = 0 then 'FAILED' else 'COMPLETE' end, $hash, $date, $date`,
  modular_transfers: `id, wallet_id, wallet_address, blockchain, transfer_type, state, token_id, amount, from_address, to_address,
      tx_hash, ordinal, block_hash, block_number, block_time, create_date, update_date) select $entity, $id, $some, 'a', $chain,
      'INBOUND_TRANSFER', case when n % 100 = 0 then 'FAILED' else 'COMPLETE' end, $some, 1, $address, 'wallet', $hash, 0, 'b',
      1, now(), $date, $date`,
}

it('finds a page of movements by each filter, whatever the tables hold', async () => {
  const walletId = randomUUID()
  const values: Record<string, string> = {
    entity: `'${entityId}'::uuid`,
    id: 'gen_random_uuid()',
    some: `case when n % 1000 = 0 then '${walletId}'::uuid else gen_random_uuid() end`,
    chain: `case when n % 500 = 0 then 'BASE-SEPOLIA' else 'ETH-SEPOLIA' end`,
    address: `case when n % 1000 = 0 then '0xaa' else 'a' || n end`,
    hash: `case when n % 1000 = 0 then '0xbb' || n else 'h' || n end`,
    date: `now() - n * interval '1 second'`,
  }
  const owner = openAsOwner(test.connection)
  await owner.tx(async (tx) => {
    await tx.run(sql`set local session_replication_role = replica`)
    for (const [table, text] of Object.entries(movementRows)) {
      const filled = text.replaceAll(/\$(\w+)/g, (_, name: string) => values[name]!)
      await tx.run(raw(`insert into ${table} (entity_id, ${filled} from generate_series(1, ${rowsTotal}) n`))
    }
  })
  for (const table of Object.keys(movementRows)) await owner.run(raw(`analyze ${table}`))
  await owner.close()
  const page = { fromMs: undefined, toMs: laterMs, pageSize: 50, order: 'DESC' } as const
  const first = { ...page, pageAfter: undefined, pageBefore: undefined }
  const list =
    (filters: object, cursor: object = {}) =>
    (db: Db) =>
      movementsPage(db, entityId, filters, { ...first, ...cursor })
  const { rows } = await list({})(test.database)
  const filters = [
    {},
    { kind: 'refund' },
    { phase: 'open' },
    { phase: 'failed' },
    { blockchain: 'BASE-SEPOLIA' },
    { walletId },
    { address: '0xaa' },
    { txHash: '0xbb2000' },
  ]
  for (const filter of filters) {
    const plans = await plansOf('transactions', list(filter))
    // Few rows are sorted where an index finds them; a table is read by none of them from end to end.
    expect([filter, plans.join('\n').match(/Seq Scan on \w+/g)]).toEqual([filter, null])
  }
  const deep = await plansOf('transactions', list({}, { pageAfter: rows.at(-1)!.id }))
  expect(deep.join('\n')).not.toMatch(/Seq Scan|Bitmap/)
  const [found] = (await list({ txHash: '0xbb2000', kind: 'payout' })(test.database)).rows
  expect(found).toMatchObject({ kind: 'payout', txHash: '0xbb2000', toAddress: '0xaa' })
})

it('finds logged requests by each filter, one among all others', async () => {
  const keyId = randomUUID()
  await test.database.run(sql`insert into requests (entity_id, id, request_id, api_key_id, method, route, path, status,
      idempotency_key, resource_id, replayed, duration_ms, create_date)
    select ${entityId}, gen_random_uuid(), gen_random_uuid(), case when n = 1 then ${keyId} else ${entityId} end::uuid,
      case when n = 1 then 'DELETE' else 'GET' end, case when n = 1 then '/rare' else '/usual' end, '',
      case when n = 1 then 503 else 200 end, gen_random_uuid(), gen_random_uuid(), false, 1, now() - n * interval '1 ms'
    from generate_series(1, ${rowsTotal}) n`)
  const page = { fromMs: undefined, toMs: laterMs, pageSize: 50, order: 'DESC' } as const
  const cursor = { pageAfter: undefined, pageBefore: undefined }
  const { idempotencyKey, resourceId } = await test.database.one<{
    idempotencyKey: string
    resourceId: string
  }>(sql`select idempotency_key, resource_id from requests where route = '/rare'`)
  const expected = [
    [{}, /using requests_page/],
    [{ method: 'DELETE' }, /using requests_by_method/],
    [{ route: '/rare' }, /using requests_by_route/],
    [{ status: '503' }, /using requests_by_status/],
    [{ status: '5xx' }, /using requests_by_class/],
    [{ apiKeyId: keyId }, /using requests_by_key/],
    [{ idempotencyKey }, /using requests_by_idempotency_key/],
    [{ resourceId }, /using requests_by_resource/],
  ] as const
  for (const [filters, index] of expected) {
    const list = (db: Db) => requestsPage(db, entityId, filters, { ...page, ...cursor })
    const plans = await plansOf('requests', list)
    expect(plans).toEqual([expect.stringMatching(index)])
    expect(plans[0]).not.toMatch(/Seq Scan|Sort/)
    if (Object.keys(filters).length > 0) expect((await list(test.database)).rows).toHaveLength(1)
  }
})
