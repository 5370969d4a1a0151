/**
 * Property 295: a page by several values, or by the deliveries of notifications, reads the rows that it shows. The tables have thousands of
 * rows of a tenant, and the rows are counted that PostgreSQL reads, planned for the values of a filter and for any.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { listTransactions } from '#engines/transactions/index'
import { notificationsPage } from '#engines/webhooks/index'
import { newId } from '#lib/ids'
import type { PageQuery } from '#runtime/collection/query'
import { type Database, type Db, openAsOwner, raw, sql } from '#runtime/db/db'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { itOnOneServer } from '#testing/databases/one-server'
import { analyze, insertUnchecked, rowsReadBy } from '#testing/databases/rows-read'

const count = 6_000
const pageSize = 50
const nowMs = Date.now()
const entityId = newId(nowMs)
const wallets = Array.from({ length: 6 }, () => randomUUID())
const [ended, current] = [randomUUID(), randomUUID()]
const { id: tokenId } = baseSepolia.tokens.find(({ symbol }) => symbol === 'USDC')!
const page: PageQuery = {
  fromMs: undefined,
  toMs: nowMs,
  pageSize,
  pageAfter: undefined,
  pageBefore: undefined,
  order: 'DESC',
}

let test: TestDatabase
let owner: Database
beforeAll(async () => {
  test = await openTestDatabase()
  owner = openAsOwner(test.connection)
  // One a second, the newest last: their ids begin with their dates.
  const dates = Array.from({ length: count }, (_, index) => nowMs - (count - index) * 1_000)
  const rows = sql`unnest(${dates.map((date) => newId(date))}::uuid[],
    ${dates.map((date) => new Date(date).toISOString())}::timestamptz[]) with ordinality as r(id, at, n)`
  await insertUnchecked(
    owner,
    sql`insert into transactions (entity_id, id, blockchain, wallet_id, address, transaction_type, custody_type, state, operation,
        token_id, tx_hash, ordinal, create_date, update_date)
      select ${entityId}, id, 'BASE-SEPOLIA', (${wallets}::uuid[])[1 + n % ${wallets.length}], 'a', 'INBOUND', 'DEVELOPER', 'COMPLETE',
        'TRANSFER', ${tokenId}, 'h' || n, 0, at, at from ${rows}`,
  )
  await insertUnchecked(
    owner,
    sql`insert into notifications (entity_id, id, topic, resource_id, message, create_date)
      select ${entityId}, id, 'payments', n, '{}', at from ${rows}`,
  )
  // The first half went to a subscription that has ended, where each of a hundred failed.
  await insertUnchecked(
    owner,
    sql`insert into notification_deliveries (entity_id, subscription_id, message_id, resource_id, state, due_date, create_date,
        update_date)
      select entity_id, case when resource_id::integer * 2 <= ${count} then ${ended}::uuid else ${current}::uuid end, id, resource_id,
        case when resource_id::integer * 2 <= ${count} and resource_id::integer % 100 = 0 then 'failed' else 'delivered' end,
        create_date, create_date, create_date
      from notifications where entity_id = ${entityId}`,
  )
  await analyze(owner, 'transactions', 'notifications', 'notification_deliveries', 'tokens')
})
afterAll(async () => {
  await owner?.close()
  await test?.close()
})

type Read = (db: Db, query: PageQuery) => Promise<{ rows: readonly { id: string }[] }>

/** The most rows of each table that a first page reads, or the one behind it, planned for its values and for any. */
async function readsOf(read: Read) {
  const { rows } = await read(test.database, page)
  const behind: PageQuery = { ...page, pageAfter: rows.at(-1)!.id }
  const reads: Record<string, number> = {}
  for (const mode of ['force_custom_plan', 'force_generic_plan'])
    for (const query of [page, behind]) {
      const counts = await rowsReadBy(test.database, async (tx) => {
        await tx.run(raw(`set local plan_cache_mode = ${mode}`))
        await read(tx, query)
      })
      for (const [table, count] of Object.entries(counts)) reads[table] = Math.max(reads[table] ?? 0, count)
    }
  return reads
}

const ofWallets =
  (walletIds: readonly string[]): Read =>
  (db, query) =>
    listTransactions(db, { entityId }, { walletIds }, query)

itOnOneServer.each([1, 3, 5])(
  'property 295: a page of the transactions of %d wallets reads its rows',
  async (chosen) => {
    const reads = await readsOf(ofWallets(wallets.slice(0, chosen)))
    // Of each wallet the row that comes next, and the cursor.
    expect(reads['transactions']).toBeLessThanOrEqual(pageSize + 1 + 2 * chosen)
  },
)

it('property 295: a page of some wallets has the order of the list, whether they are merged or sorted', async () => {
  const idsOf = async (read: Read, query: PageQuery = page) =>
    (await read(test.database, query)).rows.map(({ id }) => id)
  const long = { ...page, pageSize: 4 * pageSize }
  const all = await listTransactions(test.database, { entityId }, {}, long)
  for (const chosen of [5, 6]) {
    const of: readonly string[] = wallets.slice(0, chosen)
    const first = await idsOf(ofWallets(of))
    const next = await idsOf(ofWallets(of), { ...page, pageAfter: first.at(-1)! })
    const before = await idsOf(ofWallets(of), { ...page, pageBefore: next[0]! })
    const expected = all.rows.filter(({ walletId }) => of.includes(walletId!)).map(({ id }) => id)
    expect([...first, ...next]).toEqual(expected.slice(0, 2 * pageSize))
    expect(before).toEqual(first)
  }
})

itOnOneServer.each([
  ['of a subscription that has ended', { subscriptionId: ended }],
  ['of the subscription that receives', { subscriptionId: current }],
  ['of which a delivery failed', { state: 'failed' }],
] as const)('property 295: a page of notifications %s passes over none of the others', async (_, filter) => {
  const reads = await readsOf((db, query) => notificationsPage(db, entityId, filter, query))
  expect(reads['notifications']).toBeLessThan(2 * pageSize + 10)
  expect(reads['notification_deliveries']).toBeLessThan(5 * pageSize)
})
