import { afterAll, beforeAll, expect, it } from 'vitest'
import { topics } from '#api/index'
import { sql } from '#runtime/db/db'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

const kinds = Object.keys(topics).toSorted()

it.each(['v1', 'v2'] as const)(
  'queues the events of every topic of %s and of no other kind',
  async (line) => {
    const { queued } = await test.database.one<{ queued: string[] }>(
      sql`select notified_kinds(${line}) as queued`,
    )
    expect(queued.toSorted()).toEqual(kinds.filter((kind) => topics[kind]!.line === line))
  },
)

it('dates the resources of every topic', async () => {
  const { view } = await test.database.one<{ view: string }>(
    sql`select pg_get_viewdef('notified_resources'::regclass) as view`,
  )
  const dated = new Set([...view.matchAll(/SELECT '(\w+)'::text/g)].map(([, kind]) => kind))
  expect([...dated].toSorted()).toEqual(kinds)
})
