/** Property 125: the cost of an event and of a delivery follows neither the rows of others nor the backlog of an endpoint. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { sandboxEntity } from '#sandbox/credentials'
import { openTestDatabase, type TestDatabase } from '../../../testing/database.ts'
import { analyze, insertUnchecked, rowsReadBy } from '../../../testing/rows-read.ts'
import { sizeOf } from '../../../testing/size.ts'
import { dueDeliveries, type Lane, releaseLane, waitingDeliveries } from './store/deliveries.ts'
import { insertNotifications } from './store/queue.ts'
import { findWebhookSubscription, insertWebhookSubscription } from './store/webhook-subscriptions.ts'

const rowsTotal = sizeOf('BACKLOG_ROWS', { usual: 20_000, deep: 1_000_000 })
const { id: entityId } = sandboxEntity
const nowMs = Date.now()
const at = formatInstant(nowMs)

let test: TestDatabase
let owner: Database
beforeAll(async () => {
  test = await openTestDatabase('seeded')
  owner = openAsOwner(test.connection)
})
afterAll(async () => {
  await owner?.close()
  await test?.close()
})

async function subscribe(): Promise<Lane> {
  const id = newId(nowMs)
  await insertWebhookSubscription(
    test.database,
    {
      ...{ entityId, id, name: 'Shop', endpoint: 'https://shop.example', enabled: true },
      ...{ notificationTypes: ['*'], failingSince: null, droppedCount: 0, droppedDate: null },
      ...{ createDate: at, updateDate: at },
    },
    'TEST',
  )
  return { entityId, subscriptionId: id, endpoint: '', line: 'v2', fencingToken: 0, failureCount: 0 }
}

const notify = (resourceIds: readonly string[], max?: number) =>
  test.database.tx((tx) =>
    insertNotifications(
      tx,
      entityId,
      resourceIds.map((resourceId) => ({
        ...{ id: newId(nowMs), line: 'v2', topic: 'transactions.inbound', resourceId },
        ...{ message: '{}', orderNumber: 1 },
      })),
      at,
      max,
    ),
  )

it('property 125: an event of a subscribed entity reads no rows of others', async () => {
  await subscribe()
  await insertUnchecked(
    owner,
    sql`insert into transactions (entity_id, id, blockchain, wallet_id, address, transaction_type, custody_type, state,
        operation, create_date, update_date)
      select case n when 0 then ${entityId} else gen_random_uuid() end, md5(n::text)::uuid, 'BASE-SEPOLIA', gen_random_uuid(), '',
        'INBOUND', 'DEVELOPER', 'COMPLETE', 'TRANSFER', now(), now() from generate_series(0, ${rowsTotal}) n`,
  )
  await analyze(owner, 'transactions')
  const { id } = await test.database.one<{ id: string }>(sql`select md5('0')::uuid as id`)
  const change = { entityId, actor: 'test', type: 'transaction.complete', resourceId: id }
  const read = await rowsReadBy(test.database, async (tx) => {
    await recordChanges(tx, nowMs, [change])
    const queued = sql`select snapshot ->> 'state' as state from queued_events where resource_id = ${id}`
    expect(await tx.all(queued)).toEqual([{ state: 'COMPLETE' }])
  })
  expect(read['transactions']).toBe(1)
  for (const [table, rows] of Object.entries(read)) expect(rows, table).toBeLessThan(20)
})

it('the next delivery of an endpoint, and when it is due, are found at any backlog', async () => {
  const lane = await subscribe()
  await insertUnchecked(
    owner,
    sql`insert into notification_deliveries (entity_id, subscription_id, message_id, resource_id, sequence, state, due_date,
        create_date, update_date, attempt_count)
      select ${entityId}, ${lane.subscriptionId}, gen_random_uuid(), (n / 2)::text, n, 'waiting',
        ${at}::timestamptz + case when n = 0 then interval '1 hour' else interval '0' end, now(), now(), 0
      from generate_series(0, ${rowsTotal}) n`,
  )
  for (const analysed of [[], ['notification_deliveries', 'notification_subscriptions']]) {
    await analyze(owner, ...analysed)
    const read = await rowsReadBy(test.database, async (tx) => {
      expect(await dueDeliveries(tx, lane, at, 8)).toMatchObject({ due: { length: 8 } })
      await releaseLane(tx as Database, lane, { failureCount: 0, restDate: null, at })
    })
    expect(read['notification_deliveries']).toBeLessThan(500)
  }
  const counted = await rowsReadBy(test.database, waitingDeliveries)
  expect(counted['notification_deliveries']).toBeLessThanOrEqual(10_000)
})

it('a delivery waits until the one that blocks it is due, and then comes after it', async () => {
  const lane = await subscribe()
  const resourceId = randomUUID()
  await notify(Array(200).fill(resourceId))
  const ofResource = sql`entity_id = ${entityId} and subscription_id = ${lane.subscriptionId}`
  const laterMs = nowMs + 4_000
  await test.database.run(sql`update notification_deliveries set due_date = ${formatInstant(laterMs)}, attempt_count = 4
    where ${ofResource} and position = 1`)
  for (const isEmpty of [false, false, false, false, true])
    expect(await dueDeliveries(test.database, lane, at, 8)).toEqual({ due: [], isEmpty })
  await releaseLane(test.database, lane, { failureCount: 0, restDate: null, at })
  const { wakeDate } = await test.database.one<{ wakeDate: string }>(sql`select wake_date as "wakeDate"
    from notification_subscriptions where entity_id = ${entityId} and id = ${lane.subscriptionId}`)
  expect(wakeDate).toBe(formatInstant(laterMs))
  const { due } = await dueDeliveries(test.database, lane, formatInstant(laterMs), 8)
  expect(due).toMatchObject([{ attemptCount: 4 }])
  await test.database.run(sql`update notification_deliveries set attempt_count = 5
    where ${ofResource} and position = 1`)
  expect((await dueDeliveries(test.database, lane, formatInstant(laterMs), 8)).due).toHaveLength(2)
})

it('of a backlog that is full the oldest are dropped, counted, and shown', async () => {
  const lane = await subscribe()
  const states = () =>
    test.database.all(sql`select state, min(position) as first, count(*) as count from notification_deliveries
      where entity_id = ${entityId} and subscription_id = ${lane.subscriptionId} group by state order by state`)
  const some = (count: number) => Array.from({ length: count }, () => randomUUID())
  const fullBy = async (count: number) =>
    (await notify(some(count), 10)).filter(({ id }) => id === lane.subscriptionId)
  expect(await fullBy(8)).toEqual([])
  expect(await fullBy(7)).toMatchObject([{ droppedDate: null }])
  expect(await fullBy(1)).toMatchObject([{ droppedDate: at }])
  expect(await states()).toEqual([
    { state: 'dropped', first: 1, count: 6 },
    { state: 'waiting', first: 7, count: 10 },
  ])
  const shown = await findWebhookSubscription(test.database, entityId, lane.subscriptionId)
  expect(shown).toMatchObject({ droppedCount: 6, droppedDate: at })
})
