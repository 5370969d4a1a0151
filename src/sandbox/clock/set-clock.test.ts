import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDatabaseClock, readDatabaseClock } from '#runtime/clock/database-clock'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { testLog } from '#testing/platform/log'
import { until } from '#testing/platform/until'
import { openSettableClock } from './set-clock.ts'

const dayMs = 86_400_000

let test: TestDatabase
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test.close())

it('every process of the database follows, and commands read the same time', async () => {
  const { database } = test
  const log = testLog('error')
  const [mine, other] = await Promise.all([
    openDatabaseClock({ database, log }),
    openDatabaseClock({ database, log }),
  ])
  const clock = openSettableClock({ database, clock: mine.clock })
  const startMs = mine.clock.nowMs()
  await clock.set(startMs + dayMs)
  expect(mine.clock.nowMs()).toBeGreaterThanOrEqual(startMs + dayMs)
  await until(async () => other.clock.nowMs() >= startMs + dayMs, 'the other process has followed')
  expect((await readDatabaseClock(database)).nowMs()).toBeGreaterThanOrEqual(startMs + dayMs)
  // The clock of the machine is no further off than before: the lead is no fault of it.
  expect(Math.abs(other.clock.hostOffMs!())).toBeLessThan(dayMs / 2)

  await clock.freeze()
  const heldMs = mine.clock.nowMs()
  await until(async () => other.clock.nowMs() === heldMs, 'the other process stands still')
  await clock.freeze(heldMs - dayMs)
  expect(mine.clock.nowMs(), 'time never goes back').toBe(heldMs)
  await clock.release()
  await until(async () => mine.clock.nowMs() > heldMs, 'time passes again')
  expect(mine.clock.nowMs() - heldMs).toBeLessThan(dayMs / 2)
  await Promise.all([mine.stop(), other.stop()])
})
