/** Tables of tenants that are partitioned by tenant stand for a distributed PostgreSQL, which no test can install. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openAsOwner, sql } from '#runtime/db/db'
import { type Clone, cloneOf } from '#testing/databases/database-clone'
import { openPlanner, type Planner, spreadStatements } from '#testing/databases/spread-statements'
import { readTenantColumns } from '#testing/databases/tenant-columns'

const one = '00000000-0000-4000-8000-000000000001'
const other = '00000000-0000-4000-8000-000000000003'

let clone: Clone
let planner: Planner
beforeAll(async () => {
  clone = await cloneOf(inject('runServer'), 'partitioned')
  planner = await openPlanner(clone.connection)
})
afterAll(async () => {
  await planner?.close()
  await clone?.drop()
})

/** Numbers of the partitions that a statement reads, such as `0` and `1`. */
const read = async (text: string, ...values: unknown[]) => {
  const partitions = await planner.partitionsOf({ text, values })
  return [...new Set(partitions.map((name) => name.split('.')[0]))]
}

it('has each table of tenants in four partitions', async () => {
  const owner = openAsOwner(clone.connection)
  const tables = await owner.all<{
    name: string
    partitions: number | undefined
  }>(sql`select c.relname as name,
      (select count(*)::int from pg_inherits i where i.inhparent = c.oid) as partitions
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`)
  await owner.close()
  const columns = readTenantColumns()
  const ofTenants = tables.filter(({ name }) => columns.has(name))
  expect(ofTenants.length).toBeGreaterThan(90)
  expect(ofTenants.filter(({ partitions }) => partitions !== 4)).toEqual([])
  expect(tables.filter(({ name, partitions }) => !columns.has(name) && partitions !== 0)).toEqual([])
})

describe('property 289: a statement of one tenant reads one partition', () => {
  it.each([
    'select * from wallets where entity_id = $1 for update',
    'select * from wallets w join keys k on k.entity_id = w.entity_id and k.id = w.key_id where w.entity_id = $1',
    'select (select u.user_id from users u where u.entity_id = s.entity_id and u.id = s.user_id) from wallet_sets s where s.entity_id = $1',
    'select * from event_monitors m left join lateral (select * from event_histories h where h.entity_id = m.entity_id limit 1) h on true where m.entity_id = $1',
    'with recursive r as (select id from wallets where entity_id = $1 union all select w.id from wallets w join r using (id) where w.entity_id = $1) select * from r',
    'with due as (select id from attempts where entity_id = $1 for update) update attempts a set nonce = a.nonce from due where a.entity_id = $1 and a.id = due.id',
    'delete from entities where id = $1',
  ])('reads one: %s', async (text) => expect(await read(text, one)).toHaveLength(1))

  it.each([
    'select * from wallets where id = $1',
    'select * from wallets where id = $1 for update',
    'select * from wallets w join keys k on k.id = w.key_id where w.entity_id = $1',
    'select * from wallets w where w.entity_id = $1 and exists (select 1 from keys k where k.id = w.key_id)',
    'select (select u.user_id from users u where u.id = s.user_id limit 1) from wallet_sets s where s.entity_id = $1',
    'select * from wallets w left join keys k on k.entity_id <> w.entity_id where w.entity_id = $1',
    'update attempts set nonce = nonce where transaction_id = $1',
    'update attempts a set nonce = a.nonce from transactions t where t.entity_id = $1 and t.id = a.transaction_id',
    'delete from entities where id <> $1',
    'insert into wallet_sets select * from wallet_sets where id = $1',
  ])('reads all four: %s', async (text) => expect(await read(text, one)).toHaveLength(4))

  it('reads those of both tenants that a statement names', async () => {
    const partitions = await Promise.all(
      [one, other].map((entityId) => read('select * from keys where entity_id = $1', entityId)),
    )
    expect((await read('select * from keys where entity_id in ($1, $2)', one, other)).sort()).toEqual(
      partitions.flat().sort(),
    )
    expect(new Set(partitions.flat()).size).toBe(2)
  })

  it('is watched: what is of one tenant by its text, and not by its plan, is told with its partitions', async () => {
    const texts = [
      'select id from wallets where entity_id = $1',
      'select id from wallets where entity_id is not distinct from $1',
      'select id from wallets where id = $1',
    ]
    const sent = texts.map((text) => ({ text, values: [one] }))
    const told = await spreadStatements(sent, () => openPlanner(clone.connection))
    expect(told).toEqual([
      `reads ${[0, 1, 2, 3].map((number) => `partition_${number}.wallets`).join(', ')}: ${texts[1]}`,
    ])
  })
})
