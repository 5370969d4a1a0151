import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { compileResponse } from '#runtime/http/validate'
import { freshEmail } from '#testing/builders/users'
import { makePaymentIntent, makeTransfer, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { request } from '#testing/platform/http'
import { until } from '#testing/platform/until'
import { openReceiver } from '#testing/servers/receiver'
import { openWebhookSink } from '#testing/servers/webhook-sink'
import { caughtMessageSchema } from './schema.ts'

/* The platform's own messages in an inbox: subscribed in one step, awaited without sleeping, judged as a receiver has to. */
let harness: Harness
let world: World

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
})
afterAll(() => harness?.close())

// biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
type Caught = any

const hasShape = compileResponse(caughtMessageSchema)
const path = (inbox: string, rest = '') => `/sandbox/catcher/${inbox}${rest}`
const subscribe = (inbox: string, body: object) => world.call('POST', path(inbox, '/subscriptions'), body)
const behave = (inbox: string, body: object) => world.call('PUT', path(inbox, '/behaviour'), body)
const listed = (inbox: string, query: string): Promise<Caught[]> =>
  world.call('GET', path(inbox, `/messages?${query}`))

/** The newest message that matches, once there is one that `isIt` accepts. */
async function awaited(inbox: string, query: string, isIt: (caught: Caught) => boolean = () => true) {
  for (let after = ''; ; ) {
    const [newest] = await listed(inbox, `${query}&wait=PT30S${after}`)
    if (!newest) continue
    const found = (await listed(inbox, query)).find(isIt)
    if (found) return found
    after = `&after=${newest.id}`
  }
}

/** Posts a copy of a message by hand. */
async function post(inbox: string, { headers, body }: { headers: Record<string, string>; body: string }) {
  const { 'content-length': _, host: _host, connection: _connection, ...kept } = headers
  await request(harness.url + path(inbox), { method: 'POST', headers: kept, body })
  const [newest] = await listed(inbox, 'pageSize=1')
  return newest
}

it('subscribes an inbox to the business account in one step, which receives a payment with a valid signature', async () => {
  const subscription = await subscribe('shop', { line: 'v1' })
  expect(subscription).toEqual({
    id: expect.any(String),
    line: 'v1',
    endpoint: `${harness.url}/sandbox/catcher/shop`,
    isConfirmed: true,
  })
  const all = await world.call('GET', '/v1/notifications/subscriptions')
  const details = all.find(({ id }: { id: string }) => id === subscription.id).subscriptionDetails
  expect(details.map(({ status }: { status: string }) => status)).toEqual(['confirmed', 'confirmed'])

  const intent = await makePaymentIntent(world)
  await harness.chain().send(intent.depositAddress, 1_250_000n, 'USDC')
  const isPaid = ({ body }: Caught) => JSON.parse(JSON.parse(body).Message).payment.status === 'paid'
  const paid = await awaited('shop', 'topic=payments', isPaid)
  expect(hasShape(paid), JSON.stringify(hasShape.errors)).toBe(true)
  expect(paid).toMatchObject({
    method: 'POST',
    path: path('shop'),
    line: 'v1',
    topic: 'payments',
    answeredStatus: 200,
    signature: { state: 'valid' },
  })
  const { payment } = JSON.parse(JSON.parse(paid.body).Message)
  expect(payment).toEqual(await world.call('GET', `/v1/payments/${payment.id}`))
  expect([paid.resourceId, paid.messageId]).toEqual([payment.id, JSON.parse(paid.body).MessageId])
  expect(await world.call('GET', `/operator/notifications/${paid.messageId}`)).toMatchObject({
    topic: 'payments',
    resourceId: payment.id,
  })
  expect(await listed('shop', `resourceId=${payment.id}&messageId=${paid.messageId}`)).toEqual([paid])
  expect(await world.call('GET', path('shop', `/messages/${paid.id}`))).toEqual(paid)
  // One from each region; a slow machine may be asked again.
  const confirmations = (await listed('shop', '')).filter(({ confirmation }) => confirmation)
  expect(new Set(confirmations.map(({ confirmation }) => confirmation.reason)).size).toBe(2)
  for (const { confirmation, signature } of confirmations)
    expect([confirmation.state, signature.state]).toEqual(['confirmed', 'valid'])
  // A second request finds the subscription as it is.
  expect(await subscribe('shop', { line: 'v1' })).toEqual(subscription)
})

it('judges a tampered copy of a v1 message, and one that names a foreign certificate, as invalid', async () => {
  const [genuine] = await listed('shop', 'topic=payments&pageSize=1')
  expect((await post('copies', genuine)).signature.state).toBe('valid')
  const envelope = JSON.parse(genuine.body)
  const tampered = (changes: object) =>
    post('copies', { ...genuine, body: JSON.stringify({ ...envelope, ...changes }) })
  const more = envelope.Message.replace('"1.25"', '"1250.00"')
  expect(more).not.toBe(envelope.Message)
  expect(await tampered({ Message: more })).toMatchObject({
    topic: 'payments',
    signature: { state: 'invalid', reason: expect.stringContaining('does not match') },
  })
  const foreign = [
    'https://attacker.example/v1/notifications/certificates/x.pem',
    envelope.SigningCertURL.replace('http://', 'http://me@attacker.example/'),
    'nonsense',
  ]
  for (const SigningCertURL of foreign)
    expect((await tampered({ SigningCertURL })).signature).toEqual({
      state: 'invalid',
      reason: expect.stringContaining('not an address of this server'),
    })
  const unknown = envelope.SigningCertURL.replace(/[^/]+\.pem$/, `${randomUUID()}.pem`)
  expect((await tampered({ SigningCertURL: unknown })).signature.reason).toContain('names no certificate')
  expect((await tampered({ SignatureVersion: '3' })).signature.reason).toContain('neither 1 nor 2')
  expect((await tampered({ Signature: undefined })).signature.state).toBe('absent')
})

it('subscribes an inbox to wallets, whose webhooks are valid by both signatures until a byte differs', async () => {
  const topics = ['transactions.outbound']
  const subscription = await subscribe('wallets', { line: 'v2', topics })
  expect(subscription).toMatchObject({ line: 'v2', isConfirmed: true })
  expect(await world.call('GET', `/v2/notifications/subscriptions/${subscription.id}`)).toMatchObject({
    endpoint: `${harness.url}/sandbox/catcher/wallets`,
    notificationTypes: topics,
  })
  const transfer = await makeTransfer(world, '0.5')
  const isComplete = ({ body }: Caught) => JSON.parse(body).notification.state === 'COMPLETE'
  const query = `topic=transactions.*&resourceId=${transfer.id}`
  const complete = await awaited('wallets', query, isComplete)
  expect(complete).toMatchObject({
    line: 'v2',
    topic: 'transactions.outbound',
    resourceId: transfer.id,
    messageId: JSON.parse(complete.body).notificationId,
    signature: {
      state: 'valid',
      reason: expect.stringContaining('X-Circle-Signature and webhook-signature'),
    },
  })
  const states = (await listed('wallets', query)).map(({ body }) => JSON.parse(body).notification.state)
  expect([...new Set(states)]).toEqual(['COMPLETE', 'CONFIRMED', 'SENT', 'QUEUED', 'CLEARED', 'INITIATED'])

  const changed = (headers: object, body: string = complete.body) =>
    post('copies', { headers: { ...complete.headers, ...headers }, body })
  const { 'x-circle-signature': own, 'webhook-signature': standard, ...rest } = complete.headers
  expect((await post('copies', complete)).signature.state).toBe('valid')
  const one = await post('copies', {
    headers: { ...rest, 'webhook-signature': standard },
    body: complete.body,
  })
  expect(one.signature).toMatchObject({
    state: 'valid',
    reason: expect.stringContaining('webhook-signature matches'),
  })
  const invalid: [Caught, RegExp][] = [
    [await changed({}, complete.body.replace('"0.5"', '"5.0"')), /X-Circle-Signature does not match/],
    [await changed({ 'webhook-timestamp': '1' }), /webhook-signature does not match/],
    [await changed({ 'webhook-signature': own }), /webhook-signature does not match/],
    [await changed({ 'x-circle-signature': '' }), /X-Circle-Signature does not match/],
    [await changed({ 'x-circle-key-id': randomUUID() }), /names no key of this server/],
    [await changed({ 'x-circle-key-id': 'x' }), /names no key of this server/],
  ]
  for (const [{ signature }, reason] of invalid) {
    expect(signature.state).toBe('invalid')
    expect(signature.reason).toMatch(reason)
  }
})

it('answers 503, 503, 200 to three attempts of one message, which the log of the operator shows', async () => {
  await subscribe('flaky', { line: 'v2', topics: ['transactions.inbound'] })
  const { address } = await world.wallet()
  const sequence = [503, 503, 200]
  expect(await behave('flaky', { sequence, body: 'try again' })).toEqual({
    status: 503,
    delay: 'PT0S',
    sequence,
    used: 0,
    body: 'try again',
  })
  await world.call('DELETE', path('flaky', '/messages'))
  await harness.chain().send(address, 1_000_000n, 'USDC')
  const first = await awaited('flaky', 'topic=transactions.inbound')
  const attempts = async () => (await listed('flaky', `messageId=${first.messageId}`)).reverse()
  for (const count of [2, 3])
    await until(async () => {
      // The next attempt is due after a pause, which begins when this one is recorded.
      harness.clock.moveMs(60_000)
      await harness.database.run(sql`select pg_notify('notification_deliveries', '')`)
      return (await attempts()).length >= count
    }, `attempt ${count} arrives`)
  const caught = await attempts()
  expect(caught.map(({ answeredStatus }) => answeredStatus)).toEqual(sequence)
  expect(new Set(caught.map(({ body }) => body)).size).toBe(1)
  expect(new Set(caught.map(({ id }) => id)).size).toBe(3)
  for (const { signature } of caught) expect(signature.state).toBe('valid')
  const logged = () => world.call('GET', `/operator/notifications/${first.messageId}`)
  const ofFlaky = async () =>
    (await logged()).deliveries.find(({ endpoint }: { endpoint: string }) => endpoint.endsWith('/flaky'))
  await until(async () => (await ofFlaky()).state === 'delivered', 'the third attempt is recorded')
  const recorded = (await ofFlaky()).attempts
  expect(recorded.map(({ status }: { status: number }) => status)).toEqual(sequence)
  expect(recorded[0]).toMatchObject({ responseBody: 'try again', requestBody: first.body })
  expect(await behave('flaky', {})).toMatchObject({ status: 200 })
})

it('forwards a message with its bytes, headers and query, and tells the answer', async () => {
  const sink = await openWebhookSink()
  const [paid] = await listed('shop', 'topic=payments&pageSize=1')
  const forward = (inbox: string, id: string, url: string) =>
    world.call('POST', path(inbox, `/messages/${id}/forward`), { url })
  expect(await forward('shop', paid.id, sink.url)).toEqual({
    status: 200,
    durationMs: expect.any(Number),
    body: '',
  })
  // The sink has checked the signature.
  expect(sink.notices('payments').map(({ messageId }) => messageId)).toEqual([paid.messageId])
  await sink.close()
  const gone = await forward('shop', paid.id, sink.url)
  expect(gone).toEqual({ error: expect.stringContaining('ECONNREFUSED'), durationMs: expect.any(Number) })

  const receiver = await openReceiver(async () => undefined)
  receiver.behave((_, response) => response.writeHead(418).end('short and stout'))
  const bytes = Buffer.from([0, 255, 1, 128])
  const headers = { 'content-type': 'application/octet-stream', 'x-own': 'a, b', 'user-agent': 'app/1' }
  await request(`${harness.url}${path('raw')}?a=1&b=%20x&a=2`, { method: 'PUT', headers, body: bytes })
  const [raw] = await listed('raw', '')
  const answered = await forward('raw', raw.id, `${receiver.url}?first=0`)
  expect(answered).toMatchObject({ status: 418, body: 'short and stout' })
  expect(receiver.received).toMatchObject([
    { method: 'PUT', path: '/notifications?first=0&a=1&b=%20x&a=2', headers, bytes },
  ])
  await receiver.close()

  const refusedAs = async (url: string) => {
    const { status, body } = await world.tenant.http('POST', path('raw', `/messages/${raw.id}/forward`), {
      body: { url },
    })
    return [status, body.code, body.errors[0].location, body.errors[0].message]
  }
  expect(await refusedAs(`${harness.url}/v1/payments`)).toEqual([400, 2, 'url', 'url is this server itself'])
  expect(await refusedAs('http://10.0.0.1/')).toEqual([
    400,
    2,
    'url',
    expect.stringContaining('not on the public'),
  ])
  expect(await refusedAs('ftp://x.example/')).toEqual([400, 2, 'url', expect.stringContaining('https://')])
  // Another inbox is no such address.
  expect(await forward('raw', raw.id, harness.url + path('second'))).toMatchObject({ status: 200 })
  expect((await listed('second', '')).map(({ query }) => query)).toEqual(['a=1&b=%20x&a=2'])
})

it('opens no SubscribeURL but its own, and lets a notification be sent to an inbox alone', async () => {
  const receiver = await openReceiver(async () => undefined)
  const ask = (SubscribeURL: string) =>
    post('asked', {
      headers: { 'content-type': 'text/plain' },
      body: JSON.stringify({ Type: 'SubscriptionConfirmation', MessageId: 'm', Message: 'x', SubscribeURL }),
    })
  for (const url of [
    receiver.url,
    `${new URL(receiver.url).origin}/v1/notifications/confirm?Token=x`,
    `${harness.url}/v1/payments`,
    `${harness.url}${path('asked')}`,
    '',
    '::',
  ]) {
    const { id } = await ask(url)
    const confirmed = async () => (await world.call('GET', path('asked', `/messages/${id}`))).confirmation
    await until(async () => (await confirmed()) !== undefined, 'the message was looked at')
    expect((await confirmed()).state).toBe('refused')
  }
  const { id } = await ask(`${harness.url}/v1/notifications/confirm?Token=x`)
  const confirmation = async () => (await world.call('GET', path('asked', `/messages/${id}`))).confirmation
  await until(async () => (await confirmation()) !== undefined, 'the link was opened')
  expect(await confirmation()).toEqual({ state: 'failed', reason: expect.stringContaining('answered 404') })
  expect(receiver.received).toEqual([])
  await receiver.close()
  for (const rest of ['', '/messages', '/behaviour']) {
    const endpoint = `${harness.url}/sandbox/catcher${rest && `/shop${rest}`}`
    const { status, body } = await world.tenant.http('POST', '/v2/notifications/subscriptions', {
      body: { endpoint },
    })
    expect([status, body.message]).toEqual([400, expect.stringContaining('is this server itself')])
  }
  const refused = await world.tenant.http('POST', path('shop', '/subscriptions'), {
    body: { line: 'v1', topics: ['transactions.*'] },
  })
  expect([refused.status, refused.body.errors[0].location]).toEqual([400, 'topics'])
})

it('keeps the engines going while an inbox delays its answers', async () => {
  await subscribe('slow', { line: 'v2', topics: ['transactions.*'] })
  await behave('slow', { delay: 'PT60S' })
  const { id } = await makeTransfer(world, '0.25')
  await awaited('slow', `resourceId=${id}`)
  const isComplete = ({ body }: Caught) => JSON.parse(body).notification.state === 'COMPLETE'
  await awaited('wallets', `resourceId=${id}`, isComplete)
  expect((await world.call('GET', `/v1/w3s/transactions/${id}`)).transaction.state).toBe('COMPLETE')
  await world.call('DELETE', path('slow', '/behaviour'))
})

it('waits for a mail, so that a log-in code is read without sleeping', async () => {
  const email = freshEmail()
  const mails = (query: string): Promise<Caught[]> => world.call('GET', `/sandbox/mails?${query}`)
  const awaitedMail = async (query: string): Promise<Caught> =>
    (await mails(`${query}&wait=PT30S`))[0] ?? awaitedMail(query)
  const askForCode = () => {
    const body = { idempotencyKey: randomUUID(), deviceId: randomUUID(), email }
    return world.call('POST', '/v1/w3s/users/email/token', body)
  }
  const [first] = await Promise.all([awaitedMail(`to=${email}`), askForCode()])
  expect(first.text).toMatch(/is \d{6}\./)
  const [second] = await Promise.all([awaitedMail(`to=${email}&after=${first.id}`), askForCode()])
  expect((await mails(`to=${email}`)).map(({ id }) => id)).toEqual([second.id, first.id])
  const statusOf = async (query: string) => (await world.tenant.http('GET', `/sandbox/mails?${query}`)).status
  expect([await statusOf('wait=PT31S'), await statusOf(`after=${randomUUID()}`)]).toEqual([400, 404])
})
