/** Operators' lists are read through indexes in their order, so that the cost of a page does not grow with the table. */
import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { createChains } from '#chains/registry'
import { listedDecisionsPage, listedPoliciesPage, policyHistory } from '#custody/policy/index'
import { actsPage } from '#engines/audit/index'
import { pendingReviews } from '#engines/compliance/index'
import type { EngineCtx } from '#engines/ctx'
import { gapRecordsPage, openGaps } from '#engines/indexer/reconciliation/index'
import { flowSums } from '#engines/ledger/flow/index'
import { coinTotals, entriesPage, heldMoney, post, walletEntries } from '#engines/ledger/index'
import { findMovement, movementsPage, readTimeline, search } from '#engines/movements/index'
import { coinsHeldByWallets, stuckOf } from '#engines/transactions/history/index'
import { heldDisbursements } from '#engines/treasury/disbursements/index'
import { deliveryFigures, failingSubscriptions } from '#engines/webhooks/figures/index'
import { notificationsPage } from '#engines/webhooks/index'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { apiKeysPage } from '#runtime/auth/store'
import { type Db, openAsOwner, raw, type Sql, sql } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { requestsPage } from '#runtime/request-log/store'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { analyze, rowsReadBy } from '#testing/databases/rows-read'

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
      select ${entityId}, id, 'payments', n, '{}', now() - n * interval '1 second'
      from unnest(${Array.from({ length: rowsTotal }, (_, index) => newId(nowMs - index * 1_000))}::uuid[]) with ordinality as i(id, n)
      returning entity_id, id, resource_id, create_date)
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
  entity_messages: `id, direction, state, blockchain, token_id, amount, from_address, to_address, tx_hash, create_date, update_date)
      select $entity, $id, 'out', case when n % 100 = 0 then 'lost' else 'delivered' end, $chain, $some, 1, $address, 'other',
      $hash, $date, $date`,
  entity_unified_transfers: `id, direction, state, blockchain, token_id, amount, from_address, to_address, mint_tx_hash, create_date,
      update_date) select $entity, $id, 'out', case when n % 100 = 0 then 'failed' else 'finalized' end, $chain, $some, 1, $address,
      'other', $hash, $date, $date`,
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

/** The most rows of any table that each query reads, whatever else the tables hold. */
const readAtMost = 120

async function expectFewRows(what: string, ask: (db: Db) => Promise<unknown>): Promise<void> {
  const read = await rowsReadBy(test.database, ask)
  const many = Object.entries(read).filter(([, count]) => count > readAtMost)
  expect([what, many]).toEqual([what, []])
}

/** Fills tables without their triggers and keys, and analyses them. */
async function fill(rows: Record<string, string>): Promise<void> {
  const owner = openAsOwner(test.connection)
  await owner.tx(async (tx) => {
    await tx.run(sql`set local session_replication_role = replica`)
    for (const [table, text] of Object.entries(rows))
      await tx.run(raw(`insert into ${table} ${text} from generate_series(1, ${rowsTotal}) n`))
  })
  await analyze(owner, ...Object.keys(rows))
  await owner.close()
}

/** The database as one connection has it: a statement after the other. */
function inOrder(db: Db): Db {
  let last: Promise<unknown> = Promise.resolve()
  const queued =
    <Result>(ask: (query: Sql) => Promise<Result>) =>
    (query: Sql) => {
      const answer = last.then(() => ask(query))
      last = answer.catch(() => undefined)
      return answer
    }
  return { ...db, all: queued(db.all), maybe: queued(db.maybe), one: queued(db.one) } as Db
}

it('finds policies, decisions, gaps and keys among all others of an entity', async () => {
  const subjectId = randomUUID()
  const subject = `case when n % 1000 = 0 then '${subjectId}'::uuid else md5('s' || n)::uuid end`
  const date = `now() - n * interval '1 second'`
  await fill({
    policies: `(entity_id, subject_id, scope, version, version_id, create_date) select '${entityId}', md5('s' || n)::uuid,
      'wallet', 2, md5('v' || n)::uuid, ${date}`,
    policy_versions: `(entity_id, id, subject_id, version, rules, actor, create_date) select '${entityId}',
      case when n % 2 = 0 then md5('v' || n)::uuid else gen_random_uuid() end, md5('s' || n)::uuid, 2, '{}', 'test', ${date}`,
    policy_decisions: `(entity_id, id, intent_id, wallet_id, operation, intent_sha256, version_ids, create_date) select
      '${entityId}', gen_random_uuid(), ${subject}, ${subject}, 'transfer', decode(repeat('00', 32), 'hex'), '{}', ${date}`,
    reconciliation_gaps: `(entity_id, id, blockchain, address, token_id, block_number, block_hash, booked, on_chain, create_date)
      select '${entityId}', gen_random_uuid(), case when n % 1000 = 0 then 'BASE-SEPOLIA' else 'ETH-SEPOLIA' end, 'a' || n,
      gen_random_uuid(), n, 'b', 1, 2, ${date}`,
    api_keys: `(entity_id, id, secret_hash, create_date) select '${entityId}', gen_random_uuid(),
      decode(repeat('00', 32), 'hex'), ${date}`,
  })
  const page = { fromMs: undefined, toMs: laterMs, pageSize: 50, order: 'DESC' } as const
  const first = { ...page, pageAfter: undefined, pageBefore: undefined }
  const policyId = createHash('md5').update('s4').digest('hex')
  await expectFewRows('policies', (db) => listedPoliciesPage(db, entityId, {}, first))
  await expectFewRows('those in force', (db) => listedPoliciesPage(db, entityId, { isInForce: true }, first))
  await expectFewRows('of a subject', (db) =>
    listedPoliciesPage(db, entityId, { subjectId: policyId }, first),
  )
  await expectFewRows('decisions', (db) => listedDecisionsPage(db, entityId, {}, first))
  await expectFewRows('of a wallet', (db) =>
    listedDecisionsPage(db, entityId, { walletId: subjectId }, first),
  )
  await expectFewRows('of an intent', (db) =>
    listedDecisionsPage(db, entityId, { intentId: subjectId }, first),
  )
  await expectFewRows('gaps', (db) => gapRecordsPage(db, entityId, {}, first))
  await expectFewRows('of a chain', (db) =>
    gapRecordsPage(db, entityId, { blockchain: 'BASE-SEPOLIA' }, first),
  )
  await expectFewRows('keys', (db) => apiKeysPage(db, entityId, first))
})

it('reads an overview and the flow from few rows, whatever the tables hold', async () => {
  const date = `now() - n * interval '1 second'`
  const owner = openAsOwner(test.connection)
  const { id: tokenId } = await owner.one<{
    id: string
  }>(sql`insert into tokens (id, blockchain, name, symbol, decimals,
      is_native, address, currency, create_date)
    values (gen_random_uuid(), 'BASE-SEPOLIA', 'USDC', 'USDC', 6, false, '0xfew', 'USD', now()) returning id`)
  await owner.close()
  await fill({
    accounts: `(entity_id, id, kind, token_id, blockchain, address, posted, create_date, update_date) select '${entityId}',
      gen_random_uuid(), case when n = 1 then 'outside' else 'address' end, '${tokenId}', 'BASE-SEPOLIA',
      case when n = 1 then '' else 'a' || n end, case when n = 1 then -5 else 1 end, ${date}, ${date}`,
    reviews: `(entity_id, id, resource, state, rule_name, decided_by, create_date, update_date) select '${entityId}',
      gen_random_uuid(), 'transaction', 'approved', 'rule', 'test', ${date}, ${date}`,
    flow_buckets: `(entity_id, currency, start_date, in_amount, out_amount, transfer_count) select '${entityId}', 'USD',
      date_bin('5 minutes', now(), '1970-01-01Z') - n * interval '5 minutes', 1, 1, 2`,
  })
  const toMs = Date.now()
  const range = {
    currency: 'USD',
    from: formatInstant(toMs - 3_600_000),
    to: formatInstant(toMs),
    bucketMs: 1_800_000,
  }
  const reads: Record<string, (db: Db) => Promise<unknown>> = {
    coins: (db) => coinTotals(db, entityId),
    money: (db) => heldMoney(db, entityId),
    holds: (db) => coinsHeldByWallets(db, entityId),
    stuck: (db) => stuckOf(db, entityId, 20),
    reviews: (db) => pendingReviews(db, entityId, 20),
    held: (db) => heldDisbursements(db, entityId, 20),
    gaps: (db) => openGaps(db, entityId, 20),
    endpoints: (db) => failingSubscriptions(db, entityId, 20),
    webhooks: (db) => deliveryFigures(db, entityId, formatInstant(0), 50),
    flow: (db) => flowSums(db, entityId, range),
  }
  for (const [what, read] of Object.entries(reads)) await expectFewRows(what, read)
  expect(await coinTotals(test.database, entityId)).toMatchObject([{ amountAtomic: 5n }])
})

it('searches a word with few rows, whether nothing or nearly everything has it', async () => {
  await fill({
    wallets: `(entity_id, id, wallet_set_id, key_id, blockchain, address, derivation_index, account_type, custody_type, state,
      ref_id, batch_id, create_date, update_date) select '${entityId}', md5('w' || n)::uuid, gen_random_uuid(), gen_random_uuid(),
      'BASE-SEPOLIA', '0x' || repeat(md5(n::text), 1) || '00000000', n, 'EOA', 'DEVELOPER', 'LIVE', 'usual', gen_random_uuid(),
      now(), now()`,
    attempts: `(entity_id, id, transaction_id, blockchain, address, nonce, kind, tx_hash, raw_transaction, gas_limit, max_fee,
      priority_fee, state, create_date) select '${entityId}', gen_random_uuid(), gen_random_uuid(), 'BASE-SEPOLIA', 'a', n,
      'original', '0x' || md5(n::text) || md5('h' || n), '', 1, 1, 1, 'mined', now()`,
    idempotency_keys: `(entity_id, operation, key, fingerprint, resource_id, create_date) select '${entityId}', 'createTransfer',
      md5('k' || n)::uuid, '', gen_random_uuid()::text, now()`,
  })
  const chains = createChains([{ network: baseSepolia, rpcUrl: 'http://127.0.0.1:1', local: true }])
  const md5 = (text: string) => createHash('md5').update(text).digest('hex')
  const words = [
    md5('w7'),
    md5('w7').slice(0, 6),
    md5('k7'),
    `0x${md5('7')}00000000`,
    `0x${md5('7')}${md5('h7')}`,
    `0x${md5('7').slice(0, 6)}`,
    '0xbb2000',
    'usual',
    'unknown',
    '0.000001',
    '5',
    '0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  ]
  for (const word of words) await expectFewRows(word, (db) => search({ db, chains }, entityId, word, 10))
  const page = { fromMs: undefined, toMs: laterMs, pageSize: 50, order: 'DESC' } as const
  const first = { ...page, pageAfter: undefined, pageBefore: undefined }
  await expectFewRows('a hash', (db) => movementsPage(db, entityId, { txHash: '0xbb2000' }, first))
  const [found] = await search({ db: test.database, chains }, entityId, md5('w7'), 10)
  expect(found).toMatchObject({ kind: 'wallet' })
  expect(await search({ db: test.database, chains }, entityId, '0.000001', 10)).toHaveLength(10)
})

it('reads the timelines of messages and unified transfers, and of what they mint, from few rows', async () => {
  const hash = (name: string) => `'0x' || md5('${name}' || n) || md5('${name}' || n)`
  const [date, other] = [`now() - n * interval '1 second'`, `'other', 'another'`]
  // Four events of the contracts for each message and transfer.
  const of = '(n / 4)'
  await fill({
    messages: `(id, blockchain, domain, tx_hash, ordinal, nonce, block_hash, block_number, log_index, message, destination_domain,
      amount, max_fee, fast, state, received_blockchain, received_block_hash, received_block_number, received_tx_hash,
      received_date, create_date) select md5('m' || n)::uuid, 'BASE-SEPOLIA', 6, 'burn' || n, 0, 'nonce' || n, 'b' || n, n, 0, '0x', 1,
      1, 0, false, 'pending', 'AVAX-FUJI', 'minted' || n, n, 'mint' || n, ${date}, ${date}`,
    entity_messages: `(entity_id, id, direction, state, blockchain, token_id, amount, from_address, to_address, tx_hash, create_date,
      update_date) select '${entityId}', md5('m' || n)::uuid, 'out', 'delivered', 'BASE-SEPOLIA', md5('t' || n)::uuid, 1, ${other},
      'burn' || n, ${date}, ${date}`,
    message_proposals: `(message_id, attested_message, digest, finality_threshold, expiration_block, create_date) select
      md5('m' || n)::uuid, '0x', '0x', 2000, 0, ${date}`,
    message_signatures: `(message_id, attester, ask_date, tries) select md5('m' || n)::uuid, 'a', ${date}, 1`,
    attestation_keys: `(id, purpose, address, public_key, sealed_private_key, create_date) select md5('k' || n)::uuid, 'message',
      'k' || n, decode(repeat('00', 65), 'hex'), '', ${date}`,
    attestation_signatures: `(purpose, subject, key_id, digest, create_date) select case when n % 2 = 0 then 'message' else 'balance'
      end, case when n % 2 = 0 then 'nonce' || n else ${hash('s')} end, md5('k' || n)::uuid, decode(md5('d' || n) || md5('e' || n),
      'hex'), ${date}`,
    observed_crosschain_events: `(blockchain, block_hash, block_number, log_index, tx_hash, kind, fields, block_time) select
      case n % 4 when 0 then 'BASE-SEPOLIA' else 'AVAX-FUJI' end, 'minted' || ${of}, ${of}, n % 4,
      case n % 4 when 0 then 'burn' else 'mint' end || ${of}, (array['messageSent', 'messageReceived', 'minted', 'burned'])[1 + n % 4],
      case n % 4 when 0 then '{}' when 1 then jsonb_build_object('nonce', 'nonce' || ${of}) else jsonb_build_object('specHash',
      '0x' || md5('s' || ${of}) || md5('s' || ${of})) end, ${date}`,
    observed_transfers: `(entity_id, id, blockchain, block_hash, block_number, tx_hash, kind, position, direction, token_id,
      from_address, to_address, amount, address, purpose, owner_id, block_time) select '${entityId}', gen_random_uuid(), 'AVAX-FUJI',
      'minted' || n, n, 'mint' || n, 'log', 0, 'in', gen_random_uuid(), ${other}, 1, 'other', 'wallet', gen_random_uuid(), ${date}`,
    postings: `(entity_id, id, blockchain, block_hash, fact, create_date) select '${entityId}', gen_random_uuid(), 'AVAX-FUJI',
      'minted' || n, 'log:1:in:mint' || n, ${date}`,
    blocks: `(blockchain, hash, number, parent_hash, block_time) select 'AVAX-FUJI', 'minted' || n, n, 'p', ${date}`,
    block_steps: `(blockchain, step, kind, block_hash, block_number, final_from, final_to) select 'AVAX-FUJI', n, 'applied',
      'minted' || n, n, n, n`,
    unified_transfers: `(id, fingerprint, state, blockchain, payload, expiration_block, fees, value, forwarded, mint_tx_hash,
      create_date, update_date) select md5('u' || n)::uuid, decode(md5('f' || n) || md5('g' || n), 'hex'), 'expired', 'AVAX-FUJI', '',
      n, '{}', 1, false, 'unified' || n, ${date}, ${date}`,
    entity_unified_transfers: `(entity_id, id, direction, state, blockchain, token_id, amount, from_address, to_address, mint_tx_hash,
      create_date, update_date) select '${entityId}', md5('u' || n)::uuid, 'out', 'expired', 'AVAX-FUJI', md5('t' || n)::uuid, 1,
      ${other}, 'unified' || n, ${date}, ${date}`,
    unified_intents: `(spec_hash, transfer_id, entry, position, blockchain, depositor, value, fee, max_fee, max_block_height) select
      ${hash('s')}, md5('u' || n)::uuid, 0, 0, 'AVAX-FUJI', 'd', 1, 0, 1, 1`,
    unified_burns: `(transfer_id, entry, blockchain, due_at) select md5('u' || n)::uuid, 0, 'AVAX-FUJI', ${date}`,
    unified_movements: `(blockchain, block_hash, log_index, block_number, block_time, tx_hash, kind, depositor, amount, spec_hash)
      select 'AVAX-FUJI', 'minted' || n, 0, n, ${date}, 'mint' || n, 'burned', 'd', 1, ${hash('s')}`,
  })
  const owner = openAsOwner(test.connection)
  await analyze(owner, 'events', 'attempts', 'holds', 'notifications')
  await owner.close()
  const chains = createChains([{ network: baseSepolia, rpcUrl: 'http://127.0.0.1:1', local: true }])
  const config = { crosschainEnvironment: 'TEST', attestationThreshold: 1 }
  const ctxOf = (db: Db) =>
    ({ db: inOrder(db), chains, config, clock: { nowMs: Date.now } }) as unknown as EngineCtx
  const uuid = (text: string) => {
    const digits = createHash('md5').update(text).digest('hex')
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }
  const [message, transfer] = [uuid('m40'), uuid('u40')]
  for (const id of [message, transfer]) {
    const movement = (await findMovement(test.database, entityId, id))!
    await expectFewRows(movement.kind, (db) => readTimeline(ctxOf(db), entityId, movement))
  }
  const shown = (await findMovement(test.database, entityId, transfer))!
  const mint = { ...shown, id: randomUUID(), kind: 'transaction' as const, tokenId: null, txHash: 'mint40' }
  await expectFewRows('mint', (db) => readTimeline(ctxOf(db), entityId, mint))
  const { lanes } = await readTimeline(ctxOf(test.database), entityId, mint)
  const linked = lanes.filter(({ kind }) => kind === 'linked').map(({ note }) => note)
  expect(linked).toEqual([message, transfer])
})

it('finds the acts of one actor, of one action and of one resource among all of an entity', async () => {
  const rare = { actor: 'member:rare', type: 'apiKey.created', resourceId: 'rare' }
  const often = { actor: 'transactions', type: 'transaction.sent', resourceId: 'often' }
  const changes = [rare, ...Array.from({ length: rowsTotal }, () => often)]
  const entity = newId(nowMs)
  for (const part of [changes.slice(0, 1), changes.slice(1)])
    await recordChanges(
      test.database,
      nowMs,
      part.map((each) => ({ entityId: entity, ...each })),
    )
  const owner = openAsOwner(test.connection)
  for (const table of ['events', 'audit_links']) await owner.run(raw(`analyze ${table}`))
  await owner.close()
  const page = { fromMs: undefined, toMs: laterMs, pageSize: 50, order: 'DESC' } as const
  const cursor = { pageAfter: undefined, pageBefore: undefined }
  for (const [filters, index] of [
    [{ actor: rare.actor }, /audit_of_actor/],
    [{ action: rare.type }, /events_of_type/],
    [{ resourceId: rare.resourceId }, /events_of_resource/],
    [{}, /audit_pkey/],
  ] as const) {
    const plans = await plansOf('audit', (db) => actsPage(db, entity, filters, { ...page, ...cursor }))
    expect(plans).toEqual([expect.stringMatching(index)])
    expect(plans[0]).not.toMatch(/Seq Scan on (audit|events) /)
  }
})
