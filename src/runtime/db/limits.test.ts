import { afterAll, beforeAll, expect, it } from 'vitest'
import { openBreakableConnection } from '#testing/databases/breakable-connection'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { until } from '#testing/platform/until'
import { type Database, isDatabaseAway, openDatabase, sql } from './db.ts'
import { type SessionLimits, workLimits } from './limits.ts'

let test: TestDatabase
const hurried: Database[] = []

beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(async () => {
  for (const each of hurried) await each.close()
  await test?.close()
})

/** A pool with one short limit, the one that is tested: a busy machine may exceed any other. */
function hurriedBy(limit: Partial<SessionLimits>): Database {
  const database = openDatabase(test.connection, 4, { ...workLimits, ...limit })
  hurried.push(database)
  return database
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable(),
    (error) => error,
  )

const sessions = (pid: number) => test.database.all(sql`select 1 from pg_stat_activity where pid = ${pid}`)

it('property 61: a session idle inside a tx loses its locks, with the reason', async () => {
  const database = hurriedBy({ idleMs: 300 })
  const error = await failure(
    database.tx(async (tx) => {
      const { pid } = await tx.one<{ pid: number }>(
        sql`select pg_backend_pid() as pid, pg_advisory_xact_lock(61)`,
      )
      await until(async () => (await sessions(pid)).length === 0, 'the server has ended the session')
      const { free } = await test.database.one<{ free: boolean }>(
        sql`select pg_try_advisory_xact_lock(61) as free`,
      )
      expect(free).toBe(true)
      await tx.run(sql`select 1`)
    }),
  )
  expect([error.code, isDatabaseAway(error)]).toEqual(['25P03', true])
  expect(error.message).toContain('idle-in-transaction timeout')
  expect(await database.one(sql`select 1 as yes`)).toEqual({ yes: 1 })
})

it('property 61: a lock that is not free and a statement without an end are given up, and are no verdict', async () => {
  await test.database.tx(async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock(61)`)
    const waited = await failure(hurriedBy({ lockMs: 200 }).run(sql`select pg_advisory_xact_lock(61)`))
    expect([waited.code, isDatabaseAway(waited)]).toEqual(['55P03', true])
  })
  const slow = await failure(hurriedBy({ statementMs: 400 }).tx((tx) => tx.run(sql`select pg_sleep(60)`)))
  expect([slow.code, isDatabaseAway(slow)]).toEqual(['57014', true])
})

it('property 61: reads continue while every writing connection is taken', async () => {
  const database = openDatabase(test.connection, 4)
  let taken = 0
  const writers = Array.from({ length: 3 }, () =>
    database.tx(async () => {
      taken += 1
      await until(() => taken === 3, 'every connection that writes is taken')
      expect(await database.reading.one(sql`select 1 as yes`)).toEqual({ yes: 1 })
    }),
  )
  await Promise.all(writers)
  await expect(database.reading.run(sql`create table written ()`)).rejects.toMatchObject({ code: '25006' })
  await database.close()
})

it('property 61: reads of one tenant leave connections to other tenants and to key lookups', async () => {
  const database = openDatabase(test.connection, 16)
  let reads: Promise<unknown>[] = []
  await test.database.tx(async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock(62)`)
    const stuck = () => database.readingFor('noisy').one(sql`select pg_advisory_xact_lock(62)`)
    reads = Array.from({ length: 40 }, () => stuck().catch(() => undefined))
    for (const reading of [database.readingFor('quiet'), database.reading])
      expect(await reading.one(sql`select 1 as yes`)).toEqual({ yes: 1 })
    expect(database.waiting().reading).toBeGreaterThan(0)
  })
  await Promise.all(reads)
  await database.close()
})

it('property 61: a network that falls silent is given up, and another connection is made when it speaks again', async () => {
  const network = await openBreakableConnection(test.connection)
  const database = openDatabase(network.connection, 2, { idleMs: 300, lockMs: 200, statementMs: 400 })
  expect(await database.one(sql`select 1 as yes`)).toEqual({ yes: 1 })
  network.setSilent(true)
  const error = await failure(database.tx((tx) => tx.run(sql`select 1`)))
  expect([error.message, isDatabaseAway(error)]).toEqual(['Query read timeout', true])
  network.setSilent(false)
  expect(await database.one(sql`select 2 as two`)).toEqual({ two: 2 })
  await database.close()
  await network.close()
})

it('a session that ends in the packet that makes it ready fails its call and nothing else', async () => {
  const network = await openBreakableConnection(test.connection)
  const database = openDatabase(network.connection, 2)
  network.setEnding(true)
  const calls = [
    ...Array.from({ length: 4 }, () => database.tx((tx) => tx.run(sql`select 1`))),
    ...Array.from({ length: 4 }, () => database.run(sql`select ${1}::int`)),
  ]
  for (const error of await Promise.all(calls.map(failure))) expect(isDatabaseAway(error), error).toBe(true)
  network.setEnding(false)
  expect(await database.one(sql`select 1 as yes`)).toEqual({ yes: 1 })
  await database.close()
  await network.close()
})
