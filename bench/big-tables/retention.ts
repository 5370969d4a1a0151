import { randomUUID } from 'node:crypto'
import { forgetOld } from '#engines/webhooks/store/deliveries'
import { newId } from '#lib/ids'
import { type Database, raw, sql } from '#runtime/db/db'
import { insertRequests, type RequestRow, removeRequests, requestsPage } from '#runtime/request-log/store'
import type { Figure } from '../figures.ts'
import { firstPage } from '../first-page.ts'
import { durationsOf } from '../load.ts'
import { measureBusyCores } from '../machine.ts'
import type { Run } from '../run.ts'
import { median, percentile } from '../statistics.ts'

/** Rows of a batch, as the program removes and writes them. */
const removedAtOnce = 2_000
const deliveriesAtOnce = 1_000
const writtenAtOnce = 100

const later = '2030-01-01T00:00:00Z'

/** Removes old requests beside requests that are written and listed, then the old deliveries; rows that were written last stay. */
export async function measureRetention(run: Run, database: Database, entityId: string): Promise<Figure[]> {
  const busy = measureBusyCores()
  const calls = run.amount(200, 50, 2)
  const work = liveWork(database, entityId)
  const alone = await durationsOf(calls, work)
  const total = await countOf(database, 'requests')
  const written = writtenAtOnce / (median(await durationsOf(calls, () => write(database, entityId))) / 1_000)
  const removal = removeAll(database)
  const beside: number[] = []
  while (!removal.isOver()) beside.push(...(await durationsOf(1, work)))
  const batches = await removal.batches
  const removed = rateOf(batches)
  run.report(
    `${batches.length} batches of ${total.toLocaleString('en')} requests removed, ${removed.toFixed(0)} rows/s`,
  )
  const tenth = Math.max(1, Math.floor(batches.length / 10))
  const ms = (batch: readonly Batch[]) => median(batch.map((each) => each.ms))
  const [first, last] = [
    ms(batches.slice(0, tenth)),
    ms(batches.slice(-tenth - 1, -1).concat(batches.slice(0, batches.length < 2 ? 1 : 0))),
  ]
  const deliveries = await removeDeliveries(run, database)
  return [
    {
      name: 'old requests removed from the log, one process',
      measured: { value: removed, unit: 'rows/s' },
      reference: { value: written, unit: 'rows/s', what: `written, ${writtenAtOnce} at once` },
      ratio: removed / written,
      promise: { ratioMin: 1 },
      coresBusy: busy(),
    },
    {
      name: `the last of ${batches.length} batches of ${removedAtOnce.toLocaleString('en')}`,
      measured: { value: last, unit: 'ms' },
      reference: { value: first, unit: 'ms', what: 'the first' },
      ratio: last / first,
      promise: { ratioMax: 2 },
      coresBusy: busy(),
    },
    {
      name: `${writtenAtOnce} requests written and a page of them read, p99, while old ones are removed`,
      measured: { value: percentile(beside, 0.99), unit: 'ms' },
      reference: { value: percentile(alone, 0.99), unit: 'ms', what: 'alone' },
      ratio: percentile(beside, 0.99) / percentile(alone, 0.99),
      coresBusy: busy(),
    },
    {
      name: 'ended deliveries and their notifications removed, one process',
      measured: { value: deliveries, unit: 'rows/s' },
      coresBusy: busy(),
    },
  ]
}

type Batch = { rows: number; ms: number }

const rateOf = (batches: readonly Batch[]) =>
  batches.reduce((sum, { rows }) => sum + rows, 0) / (batches.reduce((sum, { ms }) => sum + ms, 0) / 1_000)

/** Removes all old requests, one batch after another. */
function removeAll(database: Database) {
  let over = false
  const remove = async () => {
    const batches: Batch[] = []
    for (let rows = removedAtOnce; rows === removedAtOnce; ) {
      const startedMs = performance.now()
      rows = await removeRequests(database, '2026-06-01T00:00:00Z', removedAtOnce)
      batches.push({ rows, ms: performance.now() - startedMs })
    }
    return batches
  }
  const batches = remove().finally(() => {
    over = true
  })
  return { batches, isOver: () => over }
}

async function removeDeliveries(run: Run, database: Database): Promise<number> {
  const before =
    (await countOf(database, 'notification_deliveries')) + (await countOf(database, 'notifications'))
  const startedMs = performance.now()
  for (let batch = 0; batch < run.amount(200, 50, 2); batch++)
    await forgetOld(database, { endedBefore: later, madeBefore: later }, deliveriesAtOnce)
  const seconds = (performance.now() - startedMs) / 1_000
  const after =
    (await countOf(database, 'notification_deliveries')) + (await countOf(database, 'notifications'))
  return (before - after) / seconds
}

const countOf = async (database: Database, table: string) =>
  (await database.one<{ count: number }>(sql`select count(*) as count from ${raw(table)}`)).count

/** Requests beside the removal: each writes a batch of the log, and reads a page of it. */
const liveWork = (database: Database, entityId: string) => async () => {
  await write(database, entityId)
  await requestsPage(database, entityId, {}, firstPage(50))
}

async function write(database: Database, entityId: string): Promise<void> {
  const nowMs = Date.now()
  const at = new Date(nowMs).toISOString()
  const rows = Array.from(
    { length: writtenAtOnce },
    (): RequestRow => ({
      entityId,
      id: newId(nowMs),
      requestId: randomUUID(),
      apiKeyId: entityId,
      method: 'POST',
      route: '/v1/w3s/developer/transactions/transfer',
      path: '/v1/w3s/developer/transactions/transfer',
      status: 201,
      code: null,
      idempotencyKey: randomUUID(),
      resourceId: randomUUID(),
      replayed: false,
      durationMs: 12,
      ip: '127.0.0.1',
      userAgent: 'bench',
      answeredAt: at,
      createDate: at,
    }),
  )
  await insertRequests(database, rows, [])
}
