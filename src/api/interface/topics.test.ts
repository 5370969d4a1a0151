import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { topics } from '#api/index'
import { openAsOwner, sql } from '#runtime/db/db'
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
    const rows = await test.database.all<{ kind: string }>(
      sql`select kind from notified_kinds where line = ${line}`,
    )
    expect(rows.map(({ kind }) => kind).toSorted()).toEqual(
      kinds.filter((kind) => topics[kind]!.line === line),
    )
  },
)

it('a further kind is one row and one view', async () => {
  const owner = openAsOwner(test.connection)
  const entityId = randomUUID()
  try {
    await owner.script(`create view notified_parcels as
        select entity_id, id, create_date as update_date, '{"a": 1}'::jsonb as snapshot from events;
      insert into notified_kinds (kind, line, view) values ('parcel', 'v1', 'notified_parcels');
      select build_notified_resources()`)
    await owner.run(sql`insert into entities (id, environment, name, app_id, create_date)
      values (${entityId}, 'TEST', 'sender', ${randomUUID()}, '2026-01-01T00:00:00Z')`)
    await owner.run(sql`insert into events (entity_id, id, type, resource_id, data, create_date)
      values (${entityId}, ${entityId}, 'parcel.sent', ${entityId}, '{}', '2026-01-01T00:00:00Z')`)
    const [row] = await test.database.all(
      sql`select kind, snapshot from notified_resources where id = ${entityId}`,
    )
    expect(row).toEqual({ kind: 'parcel', snapshot: { a: 1 } })
  } finally {
    await owner.script(
      `delete from notified_kinds where kind = 'parcel'; select build_notified_resources(); drop view notified_parcels`,
    )
    await owner.close()
  }
  await expect(test.database.run(sql`delete from notified_kinds`)).rejects.toThrow(/permission denied/)
})

it('dates the resources of every topic', async () => {
  const { view } = await test.database.one<{ view: string }>(
    sql`select pg_get_viewdef('notified_resources'::regclass) as view`,
  )
  const dated = new Set([...view.matchAll(/SELECT '(\w+)'::text/g)].map(([, kind]) => kind))
  expect([...dated].toSorted()).toEqual(kinds)
})
