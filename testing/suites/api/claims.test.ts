/** A claim takes no more rows than asked for, even if the planner still believes that a filled queue is empty. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { insertWire, takeWire } from '#engines/treasury/deposits/store/fiat-deposits'
import { claimLanes } from '#engines/webhooks/store/deliveries'
import { openAsOwner, sql } from '#runtime/db/db'
import { newTurn } from '#runtime/turns/store'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'

const rowsTotal = 20
const date = '2026-01-01T00:00:00.000Z'
const entityId = randomUUID()

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test.close())

it('claims one wire', async () => {
  const wire = {
    entityId,
    walletId: '1',
    currency: 'USD',
    decimals: 2,
    amount: 100n,
    trackingRef: 'CIR',
    accountNumber: '1',
    bankAccountId: null,
    redemptionId: null,
    bankReference: null,
    transactionHash: null,
    blockchain: 'BASE-SEPOLIA',
    address: '0xaa',
    createDate: date,
    updateDate: date,
  } as const
  for (let count = 0; count < rowsTotal; count++)
    await insertWire(test.database, { ...wire, id: randomUUID() })
  await countEmpty('fiat_deposits')
  await takeWire(test.database, newTurn('minting wires'), date)
  const [taken] = await test.database.all(
    sql`select count(*) as count from fiat_deposits where state = 'minting'`,
  )
  expect(taken).toEqual({ count: 1 })
})

it('leases as many subscriptions as it can serve', async () => {
  await test.database.run(sql`insert into notification_subscriptions (entity_id, id, endpoint, base_url, environment,
      wake_date, create_date, update_date)
    select ${entityId}, gen_random_uuid(), 'http://127.0.0.1/' || n, '', 'TEST', ${date}, ${date}, ${date}
    from generate_series(1, ${rowsTotal}) n`)
  await countEmpty('notification_subscriptions')
  const turn = newTurn('sending notifications')
  const claimed = await claimLanes(test.database, turn, date, { failing: false, limit: 3, leaseMs: 60_000 })
  expect(claimed).toHaveLength(3)
})

/** Sets the statistics of the table to those of an empty one. */
async function countEmpty(table: string): Promise<void> {
  const owner = openAsOwner(test.connection)
  await owner.tx(async (tx) => {
    await tx.run(sql`set local allow_system_table_mods = on`)
    await tx.run(sql`update pg_class set reltuples = 0, relpages = 10
      where relname = ${table} or oid in (select indexrelid from pg_index where indrelid = ${table}::regclass)`)
  })
  await owner.close()
}
