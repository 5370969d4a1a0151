import { afterAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'

const opened: TestDatabase[] = []
const open = async () => {
  const made = await openTestDatabase()
  opened.push(made)
  return made
}
afterAll(async () => void (await Promise.all(opened.map((made) => made.close()))))

it('gives every caller a migrated database of its own', async () => {
  const [one, other] = await Promise.all([open(), open()])
  await one.database.run(sql`insert into entities (id, environment, name, app_id, create_date)
    values (gen_random_uuid(), 'TEST', 'alone', gen_random_uuid(), now())`)
  const count = sql`select count(*) as count from entities`
  expect(await one.database.one(count)).toEqual({ count: 1 })
  expect(await other.database.one(count)).toEqual({ count: 0 })
})
