import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  makePaymentIntent,
  makeTransfer,
  makeTransientIntent,
  type World,
  worldOf,
} from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { openWebhookReceiver, type WebhookReceiver } from '#testing/servers/webhook-receiver'
import { openWebhookSink } from '#testing/servers/webhook-sink'

let harness: Harness
let world: World
let receiver: WebhookReceiver
let subscriptionId: string
/** An outbound transfer, with its webhooks INITIATED to COMPLETE. */
let transferId: string

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness, await harness.newEntity())
  receiver = await openWebhookReceiver(world.tenant.http)
  await world.fundedWallet()
  const body = { endpoint: receiver.url, notificationTypes: ['transactions.outbound'] }
  subscriptionId = (await world.call('POST', '/v2/notifications/subscriptions', body)).id
  transferId = await transfer()
  await until(async () => statesOf(transferId).includes('COMPLETE'), 'the transfer is reported')
})
afterAll(async () => {
  await receiver?.close()
  await harness?.close()
})

const states = ['INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'CONFIRMED', 'COMPLETE']

const transfer = async (): Promise<string> => (await makeTransfer(world, '0.5')).id

const statesOf = (id: string): string[] =>
  receiver.webhooks().flatMap(({ notification }) => (notification.id === id ? [notification.state] : []))
const list = (query: string) => world.call('GET', `/operator/notifications?${query}`)

it('lists both lines, by topic, resource, subscription and state, and shows each attempt', async () => {
  const sink = await openWebhookSink()
  await world.call('POST', '/v1/notifications/subscriptions', { endpoint: sink.url })
  await sink.confirm()
  const intent = await makePaymentIntent(world)
  const isLogged = async () => (await list(`resourceId=${intent.id}&state=delivered`)).length === 1
  await until(isLogged, 'the intent is delivered')
  const [v1] = await list('topic=paymentIntents')
  expect(v1).toMatchObject({ line: 'v1', resourceId: intent.id, deliveries: [{ endpoint: sink.url }] })
  const [{ attempts }] = (await world.call('GET', `/operator/notifications/${v1.id}`)).deliveries
  const { body } = sink.received.find(({ headers }) => headers['x-amz-sns-message-id'] === v1.id)!
  const token = new URL(JSON.parse(body).UnsubscribeURL).searchParams.get('Token')!
  expect(token).toHaveLength(96)
  expect(attempts).toMatchObject([
    { requestBody: body.replace(token, 'REDACTED'), requestBytes: Buffer.byteLength(body) },
  ])
  await sink.close()

  await until(
    async () => (await list(`resourceId=${transferId}&state=delivered`)).length === states.length,
    'all attempts are recorded',
  )
  const all = (await list(`resourceId=${transferId}&subscriptionId=${subscriptionId}`)).toReversed()
  expect(all.map(({ message }: { message: string }) => JSON.parse(message).state)).toEqual(states)
  expect(all.map(({ previousId }: { previousId?: string }) => previousId)).toEqual([
    undefined,
    ...all.slice(0, -1).map(({ id }: { id: string }) => id),
  ])
  expect(await list(`subscriptionId=${subscriptionId}&state=failed`)).toEqual([])
  const { deliveries, ...shown } = await world.call('GET', `/operator/notifications/${all[0].id}`)
  expect(all[0]).toMatchObject(shown)
  const [webhook] = receiver.webhooks()
  const sent = receiver.received.find(({ headers }) => headers['webhook-id'] === webhook!.notificationId)!
  expect(shown).toMatchObject({ id: webhook!.notificationId, topic: webhook!.notificationType })
  expect(deliveries).toEqual([
    {
      subscriptionId,
      endpoint: receiver.url,
      state: 'delivered',
      cause: 'auto',
      attemptCount: 1,
      attempts: [
        {
          number: 1,
          cause: 'auto',
          status: 200,
          responseBody: '',
          durationMs: expect.any(Number),
          createDate: expect.any(String),
          requestHeaders: expect.objectContaining({ 'webhook-id': webhook!.notificationId }),
          requestBody: sent.body,
          requestBytes: sent.bytes.length,
          responseHeaders: expect.objectContaining({ connection: 'keep-alive' }),
        },
      ],
    },
  ])
})

it('property 50: resends one under its id, also to a subscription that it was never queued for', async () => {
  const [latest] = await list(`resourceId=${transferId}`)
  const path = `/operator/notifications/${latest.id}/resend`
  const before = receiver.received.length
  const answer = await world.tenant.http('POST', path, { body: {} })
  expect([answer.status, answer.body.data.deliveries]).toMatchObject([
    202,
    [{ subscriptionId, state: 'waiting', cause: 'resend', dueDate: expect.any(String) }],
  ])
  await until(async () => statesOf(transferId).length === states.length + 1, 'it is sent again')
  const bodies = receiver.received.filter(({ body }) => body.includes(latest.id)).map(({ body }) => body)
  expect(new Set(bodies).size).toBe(1)
  const isRecorded = async () => {
    const [{ attempts, state }] = (await world.call('GET', `/operator/notifications/${latest.id}`)).deliveries
    if (state !== 'delivered' || attempts.length < 2) return false
    const [first, { cause, requestBody }] = attempts
    expect([cause, requestBody]).toEqual(['resend', first.requestBody])
    return true
  }
  await until(isRecorded, 'the attempt is recorded')

  const later = await world.call('POST', '/v2/notifications/subscriptions', {
    endpoint: `${receiver.url}/later`,
    notificationTypes: ['contracts.*'],
  })
  await world.call('POST', path, { subscriptionId: later.id })
  const isAtOther = () =>
    receiver.received
      .slice(before)
      .some(({ path: at, body }) => at.endsWith('/later') && body.includes(latest.id))
  await until(async () => isAtOther(), 'the other endpoint has it')

  await world.call('PATCH', `/v2/notifications/subscriptions/${later.id}`, { name: 'Off', enabled: false })
  const refused = await world.tenant.http('POST', path, { body: { subscriptionId: later.id } })
  expect([refused.status, refused.body.errors[0].location]).toEqual([400, 'subscriptionId'])
  const unknown = await world.tenant.http('POST', path, { body: { subscriptionId: randomUUID() } })
  expect([unknown.status, unknown.body.errors[0].location]).toEqual([404, 'subscriptionId'])
})

it('property 50: attempts at once what is resent to an endpoint that rests, alone and in order', async () => {
  const other = worldOf(harness, await harness.newEntity())
  const sink = await openWebhookSink()
  await other.call('POST', '/v1/notifications/subscriptions', { endpoint: sink.url })
  await sink.confirm()
  const notificationsOf = async (resourceId: string): Promise<string[]> =>
    (await other.call('GET', `/operator/notifications?resourceId=${resourceId}`)).map(
      ({ id }: { id: string }) => id,
    )
  const attemptsOf = async (id: string) =>
    (await other.call('GET', `/operator/notifications/${id}`)).deliveries[0].attempts.length
  const resend = async (id: string) =>
    (await other.tenant.http('POST', `/operator/notifications/${id}/resend`, { body: {} })).status
  const sentIds = () =>
    sink.received.flatMap(({ headers }) =>
      headers['x-amz-sns-message-type'] === 'Notification' ? [headers['x-amz-sns-message-id']] : [],
    )
  sink.behave((_, response) => response.writeHead(500).end())
  // No backoff ends while the clock stands still.
  harness.clock.hold()
  const intent = await makeTransientIntent(other)
  await until(async () => sentIds().length === 1, 'the endpoint refuses, and rests')
  await other.call('POST', `/v1/paymentIntents/${intent.id}/expire`)
  const [retried, waiting] = [await makePaymentIntent(other), await makePaymentIntent(other)]
  await until(async () => (await notificationsOf(intent.id)).length === 2, 'both changes are notified')
  const [second, first] = (await notificationsOf(intent.id)) as [string, string]
  for (const { id } of [retried, waiting])
    await until(async () => (await notificationsOf(id)).length === 1, 'the other ones wait')
  const [ofRetried] = (await notificationsOf(retried.id)) as [string]
  const [ofWaiting] = (await notificationsOf(waiting.id)) as [string]

  for (const [id, attempted] of [
    [ofRetried, ofRetried],
    [second, first],
  ] as const) {
    const before = await attemptsOf(attempted)
    expect(await resend(id)).toBe(202)
    await until(async () => (await attemptsOf(attempted)) === before + 1, 'one attempt was made')
  }
  expect(sentIds()).toEqual([first, ofRetried, first])

  sink.behave()
  expect(await resend(second)).toBe(202)
  await until(async () => sink.notices().length === 3, 'the endpoint has what is due')
  const { deliveries } = await other.call('GET', `/operator/notifications/${ofRetried}`)
  harness.clock.release()
  const received = sink.notices().map(({ messageId }) => messageId)
  expect(received[0]).toBe(first)
  expect(received.slice(1).toSorted()).toEqual([second, ofWaiting].toSorted())
  expect(deliveries).toMatchObject([{ state: 'waiting', attemptCount: 1 }])
  await sink.close()
})

it('property 50: replays a range in its order, of missing or failed notifications or of all', async () => {
  const from = '2026-01-01T00:00:00Z'
  const later = await world.call('POST', '/v2/notifications/subscriptions', {
    endpoint: `${receiver.url}/replayed`,
    notificationTypes: ['transactions.*'],
  })
  const replays = `/operator/subscriptions/${later.id}/replays`
  const statesAt = () =>
    receiver.received
      .filter(({ method, path }) => method === 'POST' && path.endsWith('/replayed'))
      .flatMap(({ body }) => {
        const { notification } = JSON.parse(body)
        return notification.id === transferId ? [notification.state] : []
      })
  const run = async (body: object) => {
    const answer = await world.tenant.http('POST', replays, { body })
    expect(answer.status).toBe(202)
    const { id, total } = answer.body.data
    const isDone = async () => (await world.call('GET', `${replays}/${id}`)).state === 'done'
    await until(isDone, 'the replay is done')
    expect(await world.call('GET', `${replays}/${id}`)).toEqual({
      id,
      total,
      done: total,
      failed: 0,
      state: 'done',
    })
    return total
  }
  expect(await run({ from, state: 'failed' })).toBe(0)
  expect(await run({ from, to: '2026-01-02T00:00:00Z', state: 'missing' })).toBe(0)
  expect(await run({ from, state: 'missing', topics: ['transactions.inbound'] })).toBe(0)
  expect(await run({ from, state: 'missing', ratePerSecond: 1_000 })).toBe(states.length)
  expect(statesAt()).toEqual(states)
  expect(await run({ from, state: 'missing' })).toBe(0)
  expect(await run({ from, state: 'all', ratePerSecond: 1_000 })).toBe(states.length)
  expect(statesAt()).toEqual([...states, ...states])
  const backwards = { from: '2026-01-02T00:00:00Z', to: from, state: 'all' }
  expect((await world.tenant.http('POST', replays, { body: backwards })).body.errors[0].location).toBe('to')
  const bad = await world.tenant.http('POST', replays, { body: { from: 'yesterday', state: 'all' } })
  expect([bad.status, bad.body.errors[0].location]).toEqual([400, 'from'])
})
