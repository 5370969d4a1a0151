/** A claim passes over tenants of which nothing can move, however many they are. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { waitingSenders } from '#engines/transactions/store/transactions'
import { defer, lookedAtMax, newTurn } from '#runtime/turns/store'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { blockchain, insertRows, transaction } from '#testing/databases/queue-rows'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test.close())

/** The tenant that comes after all others in a first claim. */
const last = 'ffffffff-ffff-4fff-bfff-ffffffffffff'

it('property 64: tenants of which all senders are deferred hide no other, though a claim looks at fewer', async () => {
  const { database } = test
  const tenants = Array.from({ length: lookedAtMax + 5 }, randomUUID)
  const insert = (ids: readonly string[]) =>
    insertRows(
      database,
      'transactions',
      ids.map((entityId, index) => transaction({ entityId, index: index + 1 })),
    )
  const claim = () => waitingSenders(database, newTurn('signing'), blockchain, tenants.length, false)
  await insert(tenants)
  const blocked = await claim()
  expect(blocked).toHaveLength(tenants.length)
  const deferrals = blocked.map(({ address: key, ...sender }) => ({ ...sender, key, waitedMs: 300_000 }))
  await defer(database, 'signing', blockchain, deferrals)
  expect(await claim()).toEqual([])
  await insert([last])
  expect((await claim()).map(({ entityId }) => entityId)).toEqual([last])
})
