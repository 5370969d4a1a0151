import { afterAll, beforeAll, expect, it } from 'vitest'
import { topics } from '#api/index'
import { sql } from '#runtime/db/db'
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

const kinds = Object.keys(topics).toSorted()

it('queues the events of every topic and of no other kind', async () => {
  const { queued } = await test.database.one<{ queued: string[] }>(sql`select notified_kinds() as queued`)
  expect(queued.toSorted()).toEqual(kinds)
})

it('dates the resources of every topic', async () => {
  const { view } = await test.database.one<{ view: string }>(
    sql`select pg_get_viewdef('notified_resources'::regclass) as view`,
  )
  const dated = new Set([...view.matchAll(/'(\w+)'::text/g)].map(([, kind]) => kind))
  expect([...dated].toSorted()).toEqual(kinds)
})
