import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Database, openDatabase } from '#runtime/db/db'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import type { SettledPayment } from './store.ts'
import { waitForPayment } from './wait.ts'

let test: TestDatabase
let database: Database

beforeAll(async () => {
  test = await openTestDatabase()
  database = openDatabase(test.connection, 16)
})
afterAll(async () => {
  await database.close()
  await test.close()
})

/** A payment that is never decided: no row has it. */
const undecided = () => ({ entityId: randomUUID(), id: randomUUID() }) as SettledPayment

/** Waits for payments as requests do, each of which has a database of its own. */
const waitAsRequests = (count: number, ms: number, isOver: () => boolean) =>
  Promise.all(
    Array.from({ length: count }, () => {
      const payment = undecided()
      const own = database.onBehalfOf(payment.entityId)
      return waitForPayment(own, payment, performance.now() + ms, isOver)
    }),
  )

it('one statement at a time reads the payments of all requests that wait', async () => {
  const { reading } = database
  const { all } = reading
  let [now, most] = [0, 0]
  Object.assign(reading, {
    all: async (query: Parameters<typeof all>[0]) => {
      now += 1
      most = Math.max(most, now)
      return all(query).finally(() => (now -= 1))
    },
  })
  await waitAsRequests(40, 300, () => false)
  Object.assign(reading, { all })
  expect(most).toBe(1)
})

it('a thousand requests wait at once, and further ones are answered at once', async () => {
  let isDone = false
  const waiting = waitAsRequests(1_000, 60_000, () => isDone)
  let looks = 0
  await waitAsRequests(5, 1_000, () => {
    looks += 1
    return false
  })
  isDone = true
  expect([(await waiting).length, looks]).toEqual([1_000, 0])
})
