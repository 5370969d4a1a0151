import { afterAll, beforeAll, expect, it } from 'vitest'
import { cloneDatabase, openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { until } from '#testing/platform/until'
import { type Database, openAsOwner, openDatabase, sql } from './db.ts'

let test: TestDatabase
let owner: Database
let database: Database

beforeAll(async () => {
  test = await openTestDatabase()
  owner = openAsOwner(test.connection)
  database = openDatabase(test.connection, 2)
})
afterAll(async () => {
  await database.close()
  await owner.close()
  await test.close()
})

const listeners = () =>
  owner.all<{ pid: number }>(
    sql`select pid from pg_stat_activity where datname = current_database() and query ~ '^(un)?listen '`,
  )
const notify = (channel: string, payload: string) => owner.run(sql`select pg_notify(${channel}, ${payload})`)

it('hears every channel through one connection, which is renewed when it breaks and closed after the last', async () => {
  const heard: string[] = []
  const hear = (name: string) => (payload: string) => void heard.push(`${name}:${payload}`)
  const [red, again, blue] = [
    database.listen('red', hear('red')),
    database.listen('red', hear('again')),
    database.listen('Blue "1"', hear('blue')),
  ]
  await Promise.all([red.started, again.started, blue.started])
  const [session, ...others] = await listeners()
  expect(others).toEqual([])
  await notify('red', '1')
  await notify('Blue "1"', '2')
  await until(() => heard.length === 3)
  expect(heard.splice(0)).toEqual(['red:1', 'again:1', 'blue:2'])

  await owner.run(sql`select pg_terminate_backend(${session!.pid}::integer)`)
  await until(async () => {
    await notify('red', '3')
    await notify('Blue "1"', '3')
    return ['red:3', 'again:3', 'blue:3'].every((one) => heard.includes(one))
  }, 'every channel is heard again')

  await blue.end()
  heard.splice(0)
  await notify('Blue "1"', '4')
  await notify('red', '5')
  await until(() => heard.includes('again:5'))
  expect(heard).not.toContain('blue:4')
  await red.end()
  expect((await listeners()).length).toBe(1)
  await again.end()
  await until(async () => (await listeners()).length === 0, 'nothing listens')
})

it('retries when the first connection fails', async () => {
  const clone = await cloneDatabase('empty')
  await owner.script(`alter database "${clone.name}" rename to "${clone.name}_away"`)
  const late = openDatabase(clone.connection, 2)
  const heard: string[] = []
  const listening = late.listen('late', (payload) => void heard.push(payload))
  await expect(listening.started).rejects.toThrow('does not exist')
  await owner.script(`alter database "${clone.name}_away" rename to "${clone.name}"`)
  await until(async () => {
    await late.run(sql`select pg_notify('late', ${'now'})`)
    return heard.includes('now')
  })
  await listening.end()
  await late.close()
  await clone.drop()
})
