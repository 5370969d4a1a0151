/** Changes of the rows of one tenant wait for no other tenant, on one server and on several. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endOperations } from '#engines/transactions/store/operations'
import { sql } from '#runtime/db/db'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test.close())

it('property 283: a statement that changes rows of its tenants waits for none that changes those of others', async () => {
  const [one, other] = [randomUUID(), randomUUID()].map((entityId) => [{ entityId, id: randomUUID() }])
  await test.database.tx(async (tx) => {
    await endOperations(tx, one!)
    await test.database.tx(async (another) => {
      await another.run(sql`set local lock_timeout = '5s'`)
      expect(await endOperations(another, other!)).toBe(0)
    })
  })
})
