/** Property 125: the cost of an event and of a delivery follows neither the rows of others nor the backlog of an endpoint. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { EngineCtx } from '#engines/ctx'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { type Database, type Db, openAsOwner, type Sql, sql } from '#runtime/db/db'
import { recordChanges } from '#runtime/record/store'
import { sandboxEntity } from '#sandbox/credentials'
import { deliveredAt } from '#testing/builders/delivery-attempt'
import { openTestDatabase, type TestDatabase } from '#testing/databases/database'
import { itOnOneServer } from '#testing/databases/one-server'
import { analyze, insertUnchecked, rowsReadBy } from '#testing/databases/rows-read'
import { movableClock } from '#testing/platform/clock'
import { sizeOf } from '#testing/runner/size'
import { forgetOldNotifications } from './forget-old.ts'
import { replayNotifications } from './resend-notifications.ts'
import {
  atOnceDate,
  type DeliveryLane,
  dueDeliveries,
  endBatch,
  endDeliveries,
  endedMax,
  recordAttempts,
  releaseLane,
  waitingDeliveries,
} from './store/deliveries.ts'
import { requeueOne } from './store/logged-notifications.ts'
import { insertNotifications } from './store/queue.ts'
import { expireDetails, removeDead } from './store/subscriptions.ts'
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

async function subscribe(): Promise<DeliveryLane> {
  const id = newId(nowMs)
  await insertWebhookSubscription(
    test.database,
    {
      entityId,
      id,
      name: 'Shop',
      endpoint: 'https://shop.example',
      enabled: true,
      notificationTypes: ['*'],
      addresses: null,
      domains: null,
      failingSince: null,
      droppedCount: 0,
      droppedDate: null,
      createDate: at,
      updateDate: at,
    },
    'TEST',
  )
  return {
    entityId,
    subscriptionId: id,
    endpoint: '',
    line: 'v2',
    fencingToken: 0,
    failureCount: 0,
    restDate: null,
    isEnding: false,
  }
}

const notify = (resourceIds: readonly string[], max?: number) =>
  test.database.tx((tx) =>
    insertNotifications(
      tx,
      entityId,
      resourceIds.map((resourceId) => ({
        id: newId(nowMs),
        line: 'v2',
        topic: 'transactions.inbound',
        resourceId,
        message: '{}',
        orderNumber: 1,
      })),
      at,
      max,
    ),
  )

itOnOneServer('property 125: an event of a subscribed entity reads no rows of others', async () => {
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

itOnOneServer(
  'property 125: recording attempts reads the deliveries of their messages, each a few times, and no others',
  async () => {
    const lanes = await Promise.all(Array.from({ length: 20 }, subscribe))
    const ids = lanes.map(({ subscriptionId }) => subscriptionId)
    await insertUnchecked(
      owner,
      sql`insert into notification_deliveries (entity_id, subscription_id, message_id, resource_id, sequence, state, due_date,
        create_date, update_date)
      select ${entityId}, s, md5('burst ' || n)::uuid, n::text, n, 'waiting', ${at}, now(), now()
      from unnest(${ids}::uuid[]) s, generate_series(1, ${rowsTotal / ids.length}) n`,
    )
    const messages = await test.database.all<{ id: string }>(
      sql`select md5('burst ' || n)::uuid as id from generate_series(1, 100) n`,
    )
    const attempts = messages.map(({ id }, index) => ({
      lane: lanes[index % lanes.length]!,
      outcome: deliveredAt(at, { messageId: id, number: 1 }),
    }))
    for (const analysed of [[], ['notification_deliveries', 'notification_subscriptions']]) {
      await analyze(owner, ...analysed)
      const read = await rowsReadBy(test.database, async (tx) => {
        expect(await recordAttempts(tx, entityId, attempts)).toEqual([])
        const recorded = sql`select 1 from notification_attempts where entity_id = ${entityId} and subscription_id = any(${ids}::uuid[])`
        expect(await tx.all(recorded)).toHaveLength(attempts.length)
      })
      // Each delivery is locked, changed, and looked up as the key of its attempt, by its message before statistics tell of endpoints.
      expect(read['notification_deliveries']).toBeLessThanOrEqual(3 * attempts.length * lanes.length)
    }
  },
)

itOnOneServer('the next delivery of an endpoint, and when it is due, are found at any backlog', async () => {
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
    // A few reads of each delivery that is examined, which are 256 at most.
    expect(read['notification_deliveries']).toBeLessThan(1_500)
  }
  const counted = await rowsReadBy(test.database, waitingDeliveries)
  expect(counted['notification_deliveries']).toBeLessThanOrEqual(10_000)
})

it('the notifications that a worker reads at once have a bounded size, and the first has any', async () => {
  const lane = await subscribe()
  await notify(Array.from({ length: 4 }, () => randomUUID()))
  const sized = async (lengths: readonly number[]) => {
    await test.database.run(sql`update notifications n set message = rpad('{}', l::integer)
      from unnest(${lengths}::int8[]) with ordinality as row(l, p)
      join notification_deliveries d on d.entity_id = ${entityId} and d.subscription_id = ${lane.subscriptionId} and d.position = p
      where n.entity_id = d.entity_id and n.id = d.message_id`)
    return (await dueDeliveries(test.database, lane, at, 8)).due.length
  }
  expect(await sized([400_000, 400_000, 400_000, 2])).toBe(2)
  expect(await sized([2_000_000, 2, 2, 2])).toBe(1)
  expect(await sized([2, 2, 2, 2])).toBe(4)
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
  const { wakeDate } = await test.database.one<{ wakeDate: string }>(sql`select wake_date
    from notification_subscriptions where entity_id = ${entityId} and id = ${lane.subscriptionId}`)
  expect(wakeDate).toBe(formatInstant(laterMs))
  const { due } = await dueDeliveries(test.database, lane, formatInstant(laterMs), 8)
  expect(due).toMatchObject([{ attemptCount: 4 }])
  await test.database.run(sql`update notification_deliveries set attempt_count = 5
    where ${ofResource} and position = 1`)
  expect((await dueDeliveries(test.database, lane, formatInstant(laterMs), 8)).due).toHaveLength(2)
})

it('property 50: a delivery that is resent while it is found blocked stays due at once', async () => {
  const lane = await subscribe()
  await notify(Array(3).fill(randomUUID()))
  const ofLane = sql`entity_id = ${entityId} and subscription_id = ${lane.subscriptionId}`
  await test.database.run(sql`update notification_deliveries set attempt_count = 1,
    due_date = ${formatInstant(nowMs + 4_000)} where ${ofLane} and position = 1`)
  const { id } = await test.database.one<{
    id: string
  }>(sql`select message_id as id from notification_deliveries
    where ${ofLane} and position = 3`)
  await owner.tx(async (tx) => {
    await requeueOne(tx, entityId, { id, subscriptionId: lane.subscriptionId }, at)
    // Waiting for these rows could end in a deadlock with the session that has locked them.
    expect(await dueDeliveries(test.database, lane, at, 8)).toEqual({ due: [], isEmpty: true })
  })
  const dates = await test.database.all<{ dueDate: string }>(
    sql`select due_date from notification_deliveries where ${ofLane}`,
  )
  expect(dates.map(({ dueDate }) => dueDate)).toEqual([atOnceDate, atOnceDate, atOnceDate])
})

it('the oldest notifications of a full backlog are dropped, counted, and shown', async () => {
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
  const shown = await findWebhookSubscription(test.database, entityId, lane.subscriptionId, 'entity')
  expect(shown).toMatchObject({ droppedCount: 6, droppedDate: at })
})

it('property 146: regions that were not confirmed, and dead subscriptions, are found without those of others', async () => {
  const [late, dead] = [await subscribe(), await subscribe()].map(({ subscriptionId }) => subscriptionId)
  await insertUnchecked(
    owner,
    sql`insert into notification_subscriptions (entity_id, id, line, endpoint, base_url, environment, create_date,
        update_date, removal_date)
      select md5((n / 3)::text)::uuid, md5(n::text)::uuid, 'v1', '', '', 'TEST', now() - interval '20 days', now(),
        case when n % 2 = 0 then now() + interval '9 days' end
      from generate_series(1, ${rowsTotal}) n`,
  )
  const region = (values: Sql) =>
    insertUnchecked(
      owner,
      sql`insert into notification_subscription_details (entity_id, id, subscription_id, region, status, create_date,
        update_date, pending_until) ${values}`,
    )
  await region(sql`select md5((n / 3)::text)::uuid, md5(n::text)::uuid, md5(n::text)::uuid, 'us-east-1',
      case when n % 2 = 0 then 'deleted' else 'pending' end, now() - interval '20 days', now(), now() + interval '10 days'
    from generate_series(1, ${rowsTotal}) n`)
  await region(sql`select ${entityId}, gen_random_uuid(), ${late}, r, 'pending', ${at}, ${at}, ${at}
    from unnest(array['us-east-1', 'us-west-2']) r`)
  await region(
    sql`select ${entityId}, gen_random_uuid(), ${dead}, 'us-east-1', 'deleted', ${at}, ${at}, ${at}`,
  )
  const inHourMs = { TEST: 3_600_000, LIVE: 0 }
  const changed = async (tx: Db) => {
    await tx.run(sql`update notification_subscriptions set removal_date = ${at} where entity_id = ${entityId}
      and id = any(${[late, dead]}::uuid[])`)
    expect(await expireDetails(tx, at, inHourMs, 20)).toBe(2)
    // One of them is due again in an hour, since its regions ended just now.
    expect(await removeDead(tx, at, 20)).toBe(1)
    expect(await removeDead(tx, formatInstant(nowMs + inHourMs.TEST), 20)).toBe(1)
    expect(
      await tx.all(sql`select removed_date from notification_subscriptions where entity_id = ${entityId}
        and id = any(${[dead, late]}::uuid[]) order by removed_date`),
    ).toEqual([{ removedDate: at }, { removedDate: formatInstant(nowMs + inHourMs.TEST) }])
  }
  for (const analysed of [[], ['notification_subscription_details', 'notification_subscriptions']]) {
    await analyze(owner, ...analysed)
    const read = await rowsReadBy(test.database, changed)
    for (const [table, rows] of Object.entries(read)) expect(rows, table).toBeLessThan(100)
  }
})

itOnOneServer(
  'property 146: the backlog of an ended subscription ends in batches, and none of it is sent',
  async () => {
    const lane = await subscribe()
    await insertUnchecked(
      owner,
      sql`insert into notification_deliveries (entity_id, subscription_id, message_id, resource_id, sequence, position, state,
        due_date, create_date, update_date, attempt_count)
      select ${entityId}, ${lane.subscriptionId}, md5(n::text)::uuid, n::text, n - ${rowsTotal + 1}, n, 'waiting', ${at}, now(), now(), 0
      from generate_series(0, ${rowsTotal}) n`,
    )
    const own = sql`entity_id = ${entityId} and subscription_id = ${lane.subscriptionId}`
    await test.database.run(sql`update notification_subscriptions set queued_count = ${rowsTotal}
    where entity_id = ${entityId} and id = ${lane.subscriptionId}`)
    const end = (tx: Db) => endDeliveries(tx, entityId, lane.subscriptionId, 'dropped', at)
    for (const analysed of [[], ['notification_deliveries']]) {
      await analyze(owner, ...analysed)
      const read = await rowsReadBy(test.database, end)
      expect(read['notification_deliveries']).toBeLessThan(3 * endedMax)
    }
    await test.database.tx(end)
    const [sent] = await notify([randomUUID()])
    expect(sent).toBeUndefined()
    const { due } = await dueDeliveries(test.database, lane, at, 8)
    expect(due.map(({ wanted }) => wanted)).toEqual(Array(8).fill(false))
    let batches = 1
    while (await test.database.tx((tx) => endBatch(tx, entityId, lane.subscriptionId, at))) batches++
    expect(batches).toBe(Math.floor((rowsTotal + 1) / endedMax))
    expect(await dueDeliveries(test.database, lane, at, 8)).toMatchObject({ due: [{ wanted: true }] })
    expect(
      await test.database.all(sql`select state, count(*) as count from notification_deliveries where ${own} group by state
      order by state`),
    ).toEqual([
      { state: 'dropped', count: rowsTotal + 1 },
      { state: 'waiting', count: 1 },
    ])
  },
)

it('property 146: a replay that would exceed the bound of a backlog is refused, and one that fits counts', async () => {
  const lane = await subscribe()
  await notify(Array.from({ length: 12 }, () => randomUUID()))
  const own = sql`entity_id = ${entityId} and subscription_id = ${lane.subscriptionId}`
  await test.database.run(
    sql`update notification_deliveries set state = 'failed' where ${own} and position <= 8`,
  )
  const scope = { clock: movableClock(), entity: sandboxEntity, actor: 'test' }
  const replay = (max: number) =>
    test.database.tx((db) =>
      replayNotifications(
        { ...scope, db },
        {
          subscriptionId: lane.subscriptionId,
          from: at,
          to: at,
          state: 'failed',
          topics: undefined,
          ratePerSecond: 1_000,
        },
        max,
      ),
    )
  await expect(replay(11)).rejects.toThrow(/8 notifications, with which more than 11 would wait/)
  expect(await replay(12)).toMatchObject({ total: 8 })
  const places = await test.database.all(
    sql`select position from notification_deliveries where ${own} order by position`,
  )
  expect(places).toEqual(Array.from({ length: 12 }, (_, index) => ({ position: index + 9 })))
})

it('what is older than its days is removed in batches until none is left, and nothing younger is', async () => {
  const { subscriptionId } = await subscribe()
  const [old, young] = [2_500, 20]
  const day = 86_400_000
  const add = (count: number, ageDays: number) =>
    insertUnchecked(
      owner,
      sql`with added as (
          insert into notifications (entity_id, id, topic, resource_id, message, create_date)
          select ${entityId}, gen_random_uuid(), 'aged', n::text, '{}', ${formatInstant(nowMs - ageDays * day)}::timestamptz
          from generate_series(1, ${count}::integer) n returning id, create_date)
        insert into notification_deliveries (entity_id, subscription_id, message_id, state, due_date, create_date, update_date)
        select ${entityId}, ${subscriptionId}, id, 'delivered', create_date, create_date, create_date from added`,
    )
  // Deliveries are kept for 30 days, and notifications for 60.
  await add(old, 61)
  await add(young, 59)
  await add(young, 29)
  const ctx = { database: test.database, clock: movableClock() } as unknown as EngineCtx
  let batches = 1
  while (await forgetOldNotifications(ctx)) batches += 1
  expect(batches).toBeGreaterThan(old / 1_000)
  expect(
    await test.database.one(sql`select
      (select count(*) from notifications where entity_id = ${entityId} and topic = 'aged') as notifications,
      (select count(*) from notification_deliveries where entity_id = ${entityId}
        and subscription_id = ${subscriptionId}) as deliveries`),
  ).toEqual({ notifications: 2 * young, deliveries: young })
})
