import { randomInt } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { topics } from '#api/index'
import { formatInstant } from '#lib/time'
import { sql } from '#runtime/db/db'
import { createCaller } from '#runtime/outbound/call'
import { newTurn } from '#runtime/turns/store'
import { deliveredAt } from '#testing/builders/delivery-attempt'
import { makePaymentIntent, worldOf } from '#testing/builders/world'
import { sessionOf, unlimited, untilBlockedBy } from '#testing/databases/blocked-sessions'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { killDelivery } from '#testing/processes/killed-delivery'
import { drawnTests } from '#testing/runner/drawn'
import { isDeep } from '#testing/runner/size'
import { type Behaviour, openWebhookSink, type WebhookSink } from '#testing/servers/webhook-sink'
import { keptTryingMs } from './back-off.ts'
import { startWebhooks } from './index.ts'
import { claimLanes, recordAttempts } from './store/deliveries.ts'

/* Endpoints that fail, and workers that die: every notification still arrives, with the id and the bytes of its first try. */
let harness: Harness
const sinks: WebhookSink[] = []

beforeAll(async () => {
  harness = await openHarness()
})
afterAll(async () => {
  await Promise.all(sinks.map((sink) => sink.close()))
  await harness?.close()
})

/** A separate entity with one confirmed endpoint. */
async function subscriber(environment: 'TEST' | 'LIVE' = 'TEST') {
  const world = worldOf(harness, await harness.newEntity(environment))
  const sink = await openWebhookSink()
  sinks.push(sink)
  const { id } = await world.call('POST', '/v1/notifications/subscriptions', { endpoint: sink.url })
  await sink.confirm()
  return { world, sink, entityId: world.tenant.entityId, subscriptionId: id as string }
}

type Attempt = { number: number; status: number | null; error: string | null }
const attemptsOf = (entityId: string) =>
  harness.database.all<Attempt>(sql`select a.number, a.status, a.error from notification_attempts a
    join notifications n on n.entity_id = a.entity_id and n.id = a.message_id
    where a.entity_id = ${entityId} order by n.sequence, a.number`)

const statesOf = async (entityId: string) =>
  (
    await harness.database.all<{ state: string }>(sql`select distinct state from notification_deliveries
      where entity_id = ${entityId} and detail_id is null`)
  ).map(({ state }) => state)

/** Moves the clock and wakes the workers, after the round of this entity has ended: backoffs of that round start then. */
async function pass(ms: number, entityId: string): Promise<void> {
  const leased = sql`select 1 from notification_subscriptions
    where entity_id = ${entityId} and lease_until > now()`
  await until(async () => (await harness.database.all(leased)).length === 0, 'the round has ended')
  harness.clock.moveMs(ms)
  await harness.database.run(sql`select pg_notify('notification_deliveries', '')`)
}

/** Fails the first `times` notifications of each id. */
const failing =
  (times: number, fail: (response: ServerResponse) => unknown): Behaviour =>
  (received, response, taken) => {
    const id = String(received.headers['x-amz-sns-message-id'])
    const tries = (tried.get(id) ?? 0) + 1
    tried.set(id, tries)
    if (received.method !== 'POST' || tries > times) return taken()
    fail(response)
  }
const tried = new Map<string, number>()

/** Keeps the notifications that arrive from being answered; returns the answers by the id of the notification. */
function holding(sink: WebhookSink): Map<string, () => void> {
  const held = new Map<string, () => void>()
  sink.behave((received, _, taken) => {
    if (received.method === 'POST') held.set(String(received.headers['x-amz-sns-message-id']), taken)
    else taken()
  })
  return held
}

const faults: Record<string, { fail: (response: ServerResponse) => unknown; status: number | null }> = {
  'an error of its own': { fail: (response) => response.writeHead(500).end('oh no \0'), status: 500 },
  'a busy one': { fail: (response) => response.writeHead(429, { 'retry-after': '1' }).end(), status: 429 },
  'one that is gone': { fail: (response) => response.writeHead(410).end(), status: 410 },
  'one that sends elsewhere': {
    fail: (response) => response.writeHead(307, { location: '/elsewhere' }).end(),
    status: 307,
  },
  'a reset': { fail: (response) => response.socket?.resetAndDestroy(), status: null },
  'an end without answer': { fail: (response) => response.socket?.destroy(), status: null },
  'half a header': { fail: (response) => response.socket?.end('HTTP/1.1 200 O'), status: null },
  'no HTTP': { fail: (response) => response.socket?.end('220 mail.example ESMTP\r\n'), status: null },
  'an error without end': {
    fail: (response) => {
      response.writeHead(503)
      const pour = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', pour)
      }
      pour()
    },
    status: 503,
  },
}

const all = Object.entries(faults)
/** One fault that answers with a status, one that breaks the connection, and one that never ends. */
const someFaults = ([0, 4, 8] as const).map((from) => all[from + randomInt(Math.min(4, all.length - from))]!)

const drawnIt = drawnTests(1, 2)

describe('an endpoint', () => {
  it.each(isDeep ? all : someFaults)(
    'that fails with %s gets the same message again',
    async (_, { fail, status }) => {
      const { world, sink, entityId } = await subscriber()
      sink.behave(failing(2, fail))
      const { id } = await makePaymentIntent(world)
      for (const count of [1, 2]) {
        await until(async () => (await attemptsOf(entityId)).length >= count, `try ${count} is recorded`)
        await pass(60_000, entityId)
      }
      await until(async () => sink.notices().length === 1, 'it is taken')
      expect(sink.notices()[0]!['paymentIntent'].id).toBe(id)
      const posts = sink.received.filter(
        ({ headers }) => headers['x-amz-sns-message-type'] === 'Notification',
      )
      expect(posts).toHaveLength(3)
      expect(new Set(posts.map(({ body }) => body)).size).toBe(1)
      expect(sink.received.some(({ path }) => path === '/elsewhere')).toBe(false)
      await until(async () => (await attemptsOf(entityId)).length === 3, 'the last try is recorded')
      const attempts = await attemptsOf(entityId)
      expect(attempts.map(({ number }) => number)).toEqual([1, 2, 3])
      expect(attempts.map((attempt) => attempt.status)).toEqual([status, status, 200])
      for (const { error } of attempts.slice(0, 2))
        expect(error === null ? '' : error.length).toBeLessThanOrEqual(300)
    },
  )

  it('a slow endpoint delays no other endpoint', async () => {
    const slow = await subscriber()
    const honest = await subscriber()
    const held: (() => void)[] = []
    slow.sink.behave((received, _, taken) => {
      if (received.method === 'POST') held.push(taken)
      else taken()
    })
    await harness.stopEngines()
    // The call has no other end than the end of this test.
    const call = createCaller('loopback')
    const webhooks = startWebhooks(harness.ctx, topics, (given) => call({ ...given, timeoutMs: 600_000 }))
    await makePaymentIntent(slow.world)
    await until(async () => held.length > 0, 'the slow endpoint is being waited for')
    const count = isDeep ? 20 : 4
    for (let index = 0; index < count; index++) {
      await makePaymentIntent(slow.world)
      await makePaymentIntent(honest.world)
    }
    await until(async () => honest.sink.notices().length >= count, 'the honest endpoint has everything')
    expect(slow.sink.notices()).toEqual([])
    slow.sink.behave()
    for (const taken of held) taken()
    const notified = () => new Set(slow.sink.notices().map(({ messageId }) => messageId)).size
    await until(async () => notified() === count + 1, 'the slow one has everything in the end')
    await webhooks.stop()
    harness.startEngines()
  })

  it('an endpoint that never answers times out after ten seconds', async () => {
    const { world, sink, entityId } = await subscriber()
    sink.behave((received, _, taken) => (received.method === 'POST' ? undefined : taken()))
    await harness.stopEngines()
    const call = createCaller('loopback')
    const patienceMs: number[] = []
    // The engine requests ten seconds, and gets less, so that the test need not wait.
    const webhooks = startWebhooks(harness.ctx, topics, (given) => {
      patienceMs.push(given.timeoutMs)
      return call({ ...given, timeoutMs: 200 })
    })
    await makePaymentIntent(world)
    await until(async () => (await attemptsOf(entityId)).length === 1, 'the try is recorded')
    await webhooks.stop()
    harness.startEngines()
    expect(await attemptsOf(entityId)).toEqual([{ number: 1, status: null, error: 'no answer within 0.2 s' }])
    expect(new Set(patienceMs)).toEqual(new Set([10_000]))
  })

  it('receives notifications of one resource in order, and of others meanwhile', async () => {
    const { world, sink, entityId } = await subscriber()
    const first = await makePaymentIntent(world)
    await until(async () => sink.notices().length === 1, 'the first intent is reported')
    let refuses = true
    const arrived: string[] = []
    sink.behave((received, response, taken) => {
      const notice = received.method === 'POST' && JSON.parse(JSON.parse(received.body).Message)
      if (refuses && notice.payment?.status === 'pending') return void response.writeHead(500).end()
      arrived.push(notice.payment ? `${notice.payment.id} ${notice.payment.status}` : notice.paymentIntent.id)
      taken()
    })
    await harness.chain().send(first.depositAddress, 5_000_000n, 'USDC')
    const second = await makePaymentIntent(world)
    await until(async () => arrived.includes(second.id), 'another resource is reported')
    const failed = async () => (await attemptsOf(entityId)).some(({ status }) => status === 500)
    await until(failed, 'the payment was refused')
    expect(arrived.some((each) => each.endsWith('paid'))).toBe(false)
    refuses = false
    await pass(60_000, entityId)
    await until(async () => arrived.some((each) => each.endsWith('paid')), 'the payment is reported')
    const steps = arrived.filter((each) => each.includes(' ')).map((each) => each.split(' ')[1])
    expect(steps).toEqual(['pending', 'confirmed', 'paid'])
  })

  drawnIt('that never recovers is attempted for three days, and its notifications are kept', async () => {
    const { world, sink, entityId } = await subscriber()
    sink.behave(failing(1_000, (response) => response.writeHead(500).end()))
    await makePaymentIntent(world)
    const hours = [0, 1, 20, 47, 71]
    for (const [index, hour] of hours.entries()) {
      await until(async () => (await attemptsOf(entityId)).length > index, `try ${index} is recorded`)
      await pass((hours[index + 1] ?? 73) * 3_600_000 - hour * 3_600_000, entityId)
    }
    await until(async () => (await attemptsOf(entityId)).length > hours.length, 'the last try is recorded')
    expect(await statesOf(entityId)).toEqual(['failed'])
    sink.behave()
    await makePaymentIntent(world)
    await until(async () => sink.notices().length === 1, 'what comes later is delivered')
  })

  drawnIt('that was unreachable for days gets one more attempt of old notifications', async () => {
    const { world, sink, entityId } = await subscriber()
    sink.behave(failing(1_000, (response) => response.writeHead(500).end()))
    await makePaymentIntent(world)
    await until(async () => (await attemptsOf(entityId)).length >= 1, 'the first try is recorded')
    await pass(keptTryingMs + 1_000, entityId)
    await until(async () => (await attemptsOf(entityId)).length >= 2, 'the second try is recorded')
    expect(await statesOf(entityId)).toEqual(['failed'])
  })

  it('receives nothing after its deletion', async () => {
    const { world, sink, entityId, subscriptionId } = await subscriber()
    sink.behave(failing(1_000, (response) => response.writeHead(500).end()))
    await makePaymentIntent(world)
    await until(async () => (await attemptsOf(entityId)).length >= 1, 'the first try is recorded')
    await world.call('DELETE', `/v1/notifications/subscriptions/${subscriptionId}`)
    expect(await statesOf(entityId)).toEqual(['dropped'])
  })

  it('property 50: whose subscription is locked delays the records of no other, and loses none', async () => {
    const [locked, honest] = [await subscriber(), await subscriber()]
    const held = holding(locked.sink)
    await makePaymentIntent(locked.world)
    await until(async () => held.size === 1, 'the endpoint has the notification')
    await harness.database.tx(async (tx) => {
      await tx.run(
        sql`select 1 from notification_subscriptions where entity_id = ${locked.entityId} and id = ${locked.subscriptionId} for update`,
      )
      for (const taken of held.values()) taken()
      await until(async () => locked.sink.notices().length === 1, 'it is taken')
      await makePaymentIntent(honest.world)
      await until(async () => (await attemptsOf(honest.entityId)).length === 1, 'another attempt is recorded')
      expect(await attemptsOf(locked.entityId)).toEqual([])
    }, unlimited)
    await until(async () => (await attemptsOf(locked.entityId)).length === 1, 'the attempt is recorded')
    expect(await statesOf(locked.entityId)).toEqual(['delivered'])
    expect(locked.sink.notices()).toHaveLength(1)
  })

  it('property 50: that answers while its subscription is deleted has its answers recorded', async () => {
    const { world, sink, entityId, subscriptionId } = await subscriber()
    const held = holding(sink)
    await harness.stopEngines()
    for (let count = 0; count < 4; count++) await makePaymentIntent(world)
    harness.startEngines()
    await until(async () => held.size === 4, 'the endpoint has all notifications')
    const deliveries = await harness.database.all<{ id: string }>(sql`select message_id as id
      from notification_deliveries where entity_id = ${entityId} and detail_id is null order by sequence`)
    const [first, second, , last] = deliveries.map(({ id }) => id) as [string, string, string, string]
    let deletion: Promise<unknown> | undefined
    await harness.database.tx(async (tx) => {
      await tx.run(sql`select 1 from notification_deliveries
        where entity_id = ${entityId} and message_id = ${second} for update`)
      deletion = world.call('DELETE', `/v1/notifications/subscriptions/${subscriptionId}`)
      await untilBlockedBy(await sessionOf(tx), harness.database, 'the deletion waits')
      // The deletion holds the first one.
      held.get(first)!()
      await until(async () => sink.notices().length === 1, 'the first one is taken')
      held.get(last)!()
      await until(async () => (await attemptsOf(entityId)).length === 1, 'the last one is recorded')
    }, unlimited)
    await deletion
    for (const [id, taken] of held) if (id !== first && id !== last) taken()
    await until(async () => (await attemptsOf(entityId)).length === 4, 'all are recorded')
    expect((await attemptsOf(entityId)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(sink.notices()).toHaveLength(4)
  })

  it('property 50: that ends its connections between notifications is not a failing one', async () => {
    const { world, sink, entityId } = await subscriber()
    sink.behave((received, response, taken) => {
      if (received.method === 'POST') response.once('finish', () => response.socket?.end())
      taken()
    })
    for (let count = 1; count <= 4; count++) {
      await makePaymentIntent(world)
      await until(async () => (await attemptsOf(entityId)).length === count, `attempt ${count} is recorded`)
    }
    expect(await attemptsOf(entityId)).toEqual(Array(4).fill({ number: 1, status: 200, error: null }))
  })

  it('property 50: that ends a kept connection instead of answering is tried again at once, on a new one', async () => {
    const { world, sink, entityId } = await subscriber()
    const known = new WeakSet<object>()
    let ended = 0
    sink.behave((received, response, taken) => {
      const socket = response.socket!
      if (received.method === 'POST' && known.has(socket)) {
        ended += 1
        return void socket.destroy()
      }
      known.add(socket)
      taken()
    })
    // No backoff ends while the clock stands still.
    harness.clock.hold()
    // On a busy machine a connection may be idle for too long to be kept until the next notification.
    let sent = 0
    while (sent < 3 || ended === 0) {
      sent += 1
      await makePaymentIntent(world)
      await until(async () => sink.notices().length === sent, `notification ${sent} arrives`)
    }
    harness.clock.release()
    const answered = async () => (await attemptsOf(entityId)).filter(({ status }) => status === 200)
    await until(async () => (await answered()).length === sent, 'every answer is recorded')
    const attempts = await attemptsOf(entityId)
    const posts = sink.received.filter(({ headers }) => headers['x-amz-sns-message-type'] === 'Notification')
    expect([attempts.length, attempts.length - sent]).toEqual([posts.length, ended])
  })

  it('property 53: is not called when its name resolves elsewhere at sending time', async () => {
    const { world, sink, entityId, subscriptionId } = await subscriber()
    const before = sink.received.length
    await harness.database.run(sql`update notification_subscriptions
      set endpoint = ${sink.url.replace('http://127.0.0.1', 'https://rebound.test')} where id = ${subscriptionId}`)
    await harness.stopEngines()
    const webhooks = startWebhooks(
      harness.ctx,
      topics,
      createCaller('public', async () => ['127.0.0.1']),
    )
    await makePaymentIntent(world)
    await until(async () => (await attemptsOf(entityId)).length === 1, 'the try is recorded')
    await webhooks.stop()
    harness.startEngines()
    const [attempt] = await attemptsOf(entityId)
    expect(attempt).toMatchObject({
      status: null,
      error: expect.stringContaining('not on the public internet'),
    })
    expect(sink.received.length).toBe(before)
  })
})

describe('a worker', () => {
  it('a worker that is killed after an endpoint answered leaves the message to be resent unchanged', async () => {
    const { world, sink, entityId, subscriptionId } = await subscriber()
    const killed = await killDelivery(harness, subscriptionId, () => makePaymentIntent(world))
    const { id } = killed.cause
    expect(sink.notices()).toHaveLength(1)
    expect(await attemptsOf(entityId)).toEqual([])
    await killed.takeOver(async () => {
      await until(async () => (await attemptsOf(entityId)).length === 1, 'the heir has sent it')
      expect(sink.notices().map((notice) => notice['paymentIntent'].id)).toEqual([id, id])
      const posts = sink.received.filter(
        ({ headers }) => headers['x-amz-sns-message-type'] === 'Notification',
      )
      expect(posts).toHaveLength(2)
      expect(new Set(posts.map(({ body }) => body)).size).toBe(1)
    })
  })

  it('a worker that lost its lease records nothing', async () => {
    const { world, sink, entityId, subscriptionId } = await subscriber()
    sink.behave(failing(1, (response) => response.writeHead(500).end()))
    await makePaymentIntent(world)
    await until(async () => (await attemptsOf(entityId)).length >= 1, 'the first try is recorded')
    await harness.stopEngines()
    const claim = async () => {
      await harness.database.run(sql`update notification_subscriptions
        set lease_until = null, wake_date = create_date where id = ${subscriptionId}`)
      const now = formatInstant(harness.clock.nowMs())
      const options = { failing: true, limit: 100, leaseMs: 60_000 }
      const lanes = await claimLanes(harness.database, newTurn('sending notifications'), now, options)
      return lanes.find((lane) => lane.subscriptionId === subscriptionId)!
    }
    const [former, present] = [await claim(), await claim()]
    const { messageId } = await harness.database.one<{ messageId: string }>(
      sql`select id as message_id from notifications where entity_id = ${entityId}`,
    )
    const at = formatInstant(harness.clock.nowMs())
    const outcome = deliveredAt(at, { messageId, number: 2 })
    await recordAttempts(harness.database, entityId, [{ lane: former, outcome }])
    expect(await attemptsOf(entityId)).toHaveLength(1)
    await recordAttempts(harness.database, entityId, [{ lane: present, outcome }])
    expect(await attemptsOf(entityId)).toHaveLength(2)
    await harness.database.run(sql`update notification_subscriptions set lease_until = null`)
    harness.startEngines()
  })
})
