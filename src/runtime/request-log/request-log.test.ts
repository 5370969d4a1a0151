import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { openAsOwner, sql } from '#runtime/db/db'
import { openMetrics } from '#runtime/telemetry/metrics'
import { worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { testLog } from '#testing/platform/log'
import { until } from '#testing/platform/until'
import type { LoggedRequest } from './bounded-queue.ts'
import { pruneRequests } from './prune.ts'
import { openRequestLog } from './request-log.ts'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ engines: false, config: { requestLog: 'bodies' } })
})
afterAll(() => harness?.close())

const entityId: string = randomUUID()

function madeRequest(createMs = harness.clock.nowMs()): LoggedRequest {
  const id = newId(createMs)
  const createDate = formatInstant(createMs)
  const row = { entityId, id, requestId: null, apiKeyId: null, method: 'GET', route: '/', path: '/' }
  const facts = { status: 200, code: null, idempotencyKey: null, resourceId: null, replayed: false }
  const caller = { durationMs: 1, ip: null, userAgent: null, answeredAt: createDate, createDate }
  const headers = { entityId, id, requestHeaders: {}, responseHeaders: {}, createDate }
  const body = { requestBody: 'x', requestBytes: 1, requestSha256: null }
  const answer = { responseBody: null, responseBytes: null, responseSha256: null }
  return { row: { ...row, ...facts, ...caller }, bodies: { ...headers, ...body, ...answer } }
}

const openLog = () => {
  const metrics = openMetrics()
  const log = openRequestLog({ database: harness.database, log: testLog('fatal'), metrics })
  const counted = async (outcome: string) =>
    (await metrics.loggedRequests.get()).values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0
  return { log, counted }
}

const rowsOf = async (entity = entityId) =>
  (
    await harness.database.one<{ count: number }>(
      sql`select count(*) from requests where entity_id = ${entity}`,
    )
  ).count

/** Locks the table against writers until the returned function is called. */
async function lockTable(): Promise<() => Promise<void>> {
  const owner = openAsOwner(harness.connection)
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let ended = Promise.resolve()
  await new Promise<void>((resolve, reject) => {
    ended = owner.tx(async (tx) => {
      await tx.run(sql`lock table requests in share mode`)
      resolve()
      await held
    })
    ended.catch(reject)
  })
  return async () => {
    release()
    await ended
    await owner.close()
  }
}

it('property 165: a flood is dropped beyond a bounded queue, and counted', async () => {
  const unlock = await lockTable()
  const { log, counted } = openLog()
  const sent = 100_000
  const one = madeRequest()
  for (let index = 0; index < sent; index++) log.add(index < 10_000 ? madeRequest() : one)
  expect(await counted('dropped')).toBe(sent - 10_000)
  await unlock()
  await until(async () => (await counted('written')) === 10_000, 'what was queued is written')
  expect(await rowsOf()).toBe(10_000)
  log.add(madeRequest())
  await log.close()
  expect(await rowsOf()).toBe(10_001)
})

it('the queue is bounded in bytes too', async () => {
  const unlock = await lockTable()
  const { log, counted } = openLog()
  const large = madeRequest()
  large.bodies = { ...large.bodies!, requestBody: 'x'.repeat(16_384), responseBody: 'x'.repeat(16_384) }
  for (let index = 0; index < 5_000; index++) log.add(large)
  const kept = 5_000 - (await counted('dropped'))
  expect(kept * 32_768).toBeLessThan(33 * 1_048_576)
  expect(kept).toBeGreaterThan(900)
  await unlock()
  await log.close()
})

it('requests are answered while the log cannot be written, and logged when it can', async () => {
  const world = worldOf(harness, await harness.newEntity())
  const unlock = await lockTable()
  const statuses = await Promise.all(
    Array.from({ length: 300 }, async () => (await world.tenant.http('GET', '/v1/w3s/walletSets')).status),
  )
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(await rowsOf(world.tenant.entityId)).toBe(0)
  await unlock()
  await until(async () => (await rowsOf(world.tenant.entityId)) === 300, 'all are logged')
})

it('a stop ends while the log cannot be written', async () => {
  const unlock = await lockTable()
  const { log, counted } = openLog()
  for (let index = 0; index < 300; index++) log.add(madeRequest())
  await log.close()
  expect(await counted('dropped')).toBe(300)
  await unlock()
})

it('a batch that the database refuses is dropped, and the next one written', async () => {
  const { log, counted } = openLog()
  const wrong = madeRequest()
  log.add({ ...wrong, row: { ...wrong.row, path: 'nul \u0000' } })
  await until(async () => (await counted('dropped')) === 1, 'it is dropped')
  const before = await rowsOf()
  log.add(madeRequest())
  await log.close()
  expect([await counted('written'), await rowsOf()]).toEqual([1, before + 1])
})

it('removes what is old, and the oldest of too many', async () => {
  await openAsOwnerOnce(sql`truncate requests, request_bodies`)
  const { log } = openLog()
  const dayMs = 86_400_000
  const nowMs = harness.clock.nowMs()
  for (const days of [0, 1, 2, 8, 9, 31, 32]) log.add(madeRequest(nowMs - days * dayMs))
  await log.close()
  const scope = { ...harness.ctx, database: harness.database }
  const retention = { rowDays: 30, bodyDays: 7 }
  const bodies = async () =>
    (await harness.database.one<{ count: number }>(sql`select count(*) from request_bodies`)).count
  expect(await pruneRequests(scope, retention, 1)).toBe(true)
  expect([await rowsOf(), await bodies()]).toEqual([6, 5])
  while (await pruneRequests(scope, retention, 2));
  expect([await rowsOf(), await bodies()]).toEqual([5, 3])
  while (await pruneRequests(scope, { ...retention, rowsMax: 2 }, 2));
  expect([await rowsOf(), await bodies()]).toEqual([2, 2])
})

async function openAsOwnerOnce(statement: ReturnType<typeof sql>) {
  const owner = openAsOwner(harness.connection)
  await owner.run(statement)
  await owner.close()
}
