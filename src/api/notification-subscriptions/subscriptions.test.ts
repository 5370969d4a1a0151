import { randomUUID, X509Certificate } from 'node:crypto'
import { Circle } from '@circle-fin/circle-sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { tokenOf } from '#engines/webhooks/index'
import { sql } from '#runtime/db/db'
import { compileResponse } from '#runtime/http/validate'
import { type Harness, openHarness } from '#testing/platform/harness'
import type { Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { verifyMessage } from '#testing/servers/sns-signature'
import { openWebhookSink, type WebhookSink } from '#testing/servers/webhook-sink'
import { subscriptionSchema } from './schema.ts'

let harness: Harness
let tenant: Tenant
let sink: WebhookSink

beforeAll(async () => {
  harness = await openHarness()
})
beforeEach(async () => {
  tenant = await harness.newEntity()
  sink = await openWebhookSink()
  return () => sink.close()
})
afterAll(() => harness?.close())

const path = '/v1/notifications/subscriptions'
const subscribe = (endpoint: string, as = tenant) => as.http('POST', path, { body: { endpoint } })
const list = async () => (await tenant.http('GET', path)).body.data
const statusesOf = async (): Promise<string[][]> =>
  (await list()).map((each: { subscriptionDetails: { status: string }[] }) =>
    each.subscriptionDetails.map(({ status }) => status),
  )
const hasShape = compileResponse(subscriptionSchema)
const arn = /^arn:aws:sns:us-(east-1|west-2):908968368384:sandbox_platform-notifications-topic:[0-9a-f-]{36}$/

/**
 * Moves the clock by a month and restarts the engines, which check for expired rows at their start, otherwise at their
 * next turn.
 */
async function moveMonth() {
  await harness.stopEngines()
  harness.clock.moveMs(30 * 86_400_000 + 1_000)
  harness.startEngines()
}

describe('subscriptions', () => {
  it('are created, confirmed by region, listed and deleted through the published client', async () => {
    const circle = new Circle(tenant.apiKey, harness.url)
    const created = await circle.subscriptions.createSubscription({ endpoint: sink.url })
    expect(created.status).toBe(200)
    const subscription = created.data.data!
    expect(hasShape(subscription)).toBe(true)
    expect(subscription.endpoint).toBe(sink.url)
    const details = subscription.subscriptionDetails!
    expect(details.map(({ status }) => status)).toEqual(['pending', 'pending'])
    for (const { url } of details) expect(url).toMatch(arn)
    expect(details.map(({ url }) => url!.split(':')[3])).toEqual(['us-east-1', 'us-west-2'])

    await sink.confirm({ regions: 1 })
    expect((await statusesOf())[0]!.toSorted()).toEqual(['confirmed', 'pending'])
    const early = await tenant.http('DELETE', `${path}/${subscription.id}`)
    expect([early.status, early.body.code]).toEqual([400, 400])
    await sink.confirm()
    expect(await statusesOf()).toEqual([['confirmed', 'confirmed']])
    expect((await circle.subscriptions.listSubscriptions()).data.data).toEqual(await list())

    const deleted = await circle.subscriptions.deleteSubscription(subscription.id!)
    expect([deleted.status, deleted.data]).toEqual([200, { data: {} }])
    expect(await list()).toEqual([])
    expect((await tenant.http('DELETE', `${path}/${subscription.id}`)).status).toBe(404)
  })

  it('sends HEAD first, then a signed confirmation request for each region', async () => {
    await subscribe(sink.url)
    await until(async () => sink.messages().length === 2, 'both regions are asked')
    expect(sink.received[0]).toMatchObject({ method: 'HEAD', path: '/notifications' })
    const byRegion = sink.messages().toSorted((one, other) => (one.TopicArn < other.TopicArn ? -1 : 1))
    const details = (await list())[0].subscriptionDetails
    for (const [index, message] of byRegion.entries()) {
      const { Type, Token, TopicArn, Message, SubscribeURL, Timestamp, SignatureVersion, SigningCertURL } =
        message
      expect([Type, SignatureVersion]).toEqual(['SubscriptionConfirmation', '1'])
      expect(details[index].url.startsWith(`${TopicArn}:`)).toBe(true)
      expect(Message).toContain(TopicArn)
      expect(Timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      expect(SubscribeURL).toContain(
        `Action=ConfirmSubscription&TopicArn=${encodeURIComponent(TopicArn)}&Token=${Token}`,
      )
      expect(SubscribeURL!.startsWith(harness.url)).toBe(true)
      expect(SigningCertURL.startsWith(harness.url)).toBe(true)
      expect(message).not.toHaveProperty('UnsubscribeURL')
      for (const changed of ['Message', 'SubscribeURL', 'Token', 'Timestamp', 'MessageId', 'TopicArn'])
        await expect(verifyMessage({ ...message, [changed]: `${Token}x` }, /./)).rejects.toThrow(
          'does not match',
        )
    }
    const posts = sink.received.filter(({ method }) => method === 'POST')
    for (const { headers, body } of posts) {
      expect(headers['content-type']).toBe('text/plain; charset=UTF-8')
      expect(headers['x-amz-sns-message-type']).toBe('SubscriptionConfirmation')
      expect(headers['x-amz-sns-message-id']).toBe(JSON.parse(body).MessageId)
    }
  })

  it('serves its certificate without a key, and no other', async () => {
    await subscribe(sink.url)
    await until(async () => sink.messages().length > 0, 'a message')
    const url = sink.messages()[0]!.SigningCertURL
    const answer = await fetch(url)
    expect(answer.headers.get('content-type')).toContain('application/x-pem-file')
    const certificate = new X509Certificate(await answer.text())
    expect(certificate.subject).toBe('CN=Bezant notifications')
    expect(certificate.publicKey.asymmetricKeyDetails).toMatchObject({ modulusLength: 2048 })
    const unknown = await fetch(url.replace(/[^/]+\.pem$/, `${randomUUID()}.pem`))
    expect(unknown.status).toBe(404)
    expect((await fetch(url.replace(/\.pem$/, ''))).status).toBe(400)
    const rows = await harness.database.all<{ sealed: Buffer }>(
      sql`select sealed_private_key as sealed from signing_certificates`,
    )
    for (const { sealed } of rows)
      expect(sealed.includes(Buffer.from('300d06092a864886f70d010101', 'hex'))).toBe(false)
  })

  it('returns the existing subscription of an endpoint, and repeats its pending confirmations', async () => {
    const first = await subscribe(sink.url)
    await sink.confirm({ regions: 1 })
    await until(async () => sink.messages().length === 2, 'both regions were asked')
    const again = await subscribe(sink.url)
    expect([again.status, again.body.data.id]).toEqual([200, first.body.data.id])
    await until(async () => sink.messages().length === 3, 'the other region is asked once more')
    expect(await list()).toHaveLength(1)
  })

  it('limits a TEST key to three and a LIVE key to one, also for concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => subscribe(`${sink.url}/${index}`)),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 429, 429, 429, 429, 429])
    expect(answers.find(({ status }) => status === 429)!.body.code).toBe(429)
    expect(await list()).toHaveLength(3)
    const live = await harness.newEntity('LIVE')
    expect((await subscribe(sink.url, live)).status).toBe(200)
    const { body } = await subscribe(`${sink.url}/2`, live)
    expect(body.code).toBe(429)
    expect((await live.http('GET', path)).body.data[0].subscriptionDetails[0].url).toContain(
      ':prod_platform-',
    )
  })

  it('expires unconfirmed regions after 30 days, and then the subscription', async () => {
    await subscribe(sink.url)
    await subscribe(`${sink.url}/other`)
    await sink.confirm({ regions: 1, path: '/notifications/other' })
    await moveMonth()
    const expected = [
      ['confirmed', 'deleted'],
      ['deleted', 'deleted'],
    ]
    await until(async () => {
      const statuses = (await statusesOf()).map((each) => each.toSorted()).toSorted()
      return JSON.stringify(statuses) === JSON.stringify(expected)
    }, 'what nobody confirmed is deleted')
    await moveMonth()
    await until(async () => (await list()).length === 1, 'the dead one is gone')
  })
})

describe('an endpoint', () => {
  const local = (host: string) => sink.url.replace('127.0.0.1', host)

  it.each([
    '127.0.0.1',
    'localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '2130706433',
    '0x7f.1',
    '0.0.0.0',
    '169.254.169.254',
    '10.0.0.1',
  ])('property 53: is refused, and not called, when it is %s on a server for the public', async (host) => {
    harness.ctx.config.notificationTargets = 'public'
    const answers = [await subscribe(local(host)), await subscribe(local(host).replace('http:', 'https:'))]
    harness.ctx.config.notificationTargets = 'loopback'
    for (const { status, body } of answers) {
      expect([status, body.code, body.errors[0].location]).toEqual([400, 2, 'endpoint'])
      expect(body.message).toMatch(/must be an https:\/\/ address|not on the public internet/)
    }
    expect(sink.received).toEqual([])
    expect(await list()).toEqual([])
  })

  it('an endpoint of this machine without a scheme is refused with the address that is meant', async () => {
    const { status, body } = await subscribe('localhost:3000')
    expect([status, body.errors[0].message]).toEqual([
      400,
      'endpoint must begin with http:// or https://, such as http://localhost:3000',
    ])
  })

  it('must answer HEAD with 2xx, or the error reports its answer', async () => {
    for (const [status, reason] of [
      [405, /answered HEAD with 405/],
      [302, /answered HEAD with 302.*without a redirect/],
      [500, /answered HEAD with 500/],
    ] as const) {
      sink.behave((_, response) => response.writeHead(status, { location: '/elsewhere' }).end())
      const { status: answered, body } = await subscribe(sink.url)
      expect([answered, body.code]).toEqual([400, 2])
      expect(body.message).toMatch(reason)
    }
    sink.behave((_, response) => response.socket?.destroy())
    expect((await subscribe(sink.url)).body.message).toMatch(/did not answer HEAD/)
    expect(
      sink.received.every(({ method, path: asked }) => method === 'HEAD' && asked === '/notifications'),
    ).toBe(true)
    expect(await list()).toEqual([])
  })

  it.each([
    ['nothing', {}],
    ['no text', { endpoint: 7 }],
    ['empty text', { endpoint: '' }],
    ['no address', { endpoint: 'merchant.example' }],
    ['another scheme', { endpoint: 'ftp://merchant.example/' }],
    ['8 KB', { endpoint: `https://merchant.example/${'x'.repeat(8_192)}` }],
    ['credentials', { endpoint: 'https://a:b@merchant.example/' }],
    ['the port of a database', { endpoint: 'https://merchant.example:5432/' }],
    ['a name that nobody has', { endpoint: 'https://nobody.invalid/' }],
  ])('is refused when it is %s', async (_, body) => {
    const answer = await tenant.http('POST', path, { body })
    expect([answer.status, answer.body.code, answer.body.errors[0].location]).toEqual([400, 2, 'endpoint'])
  })

  it('is refused when it is this server itself', async () => {
    const { status, body } = await subscribe(`${harness.url}/ping`)
    expect([status, body.message]).toEqual([400, expect.stringContaining('is this server itself')])
  })
})

describe('links', () => {
  it('work repeatedly, for their own purpose only, and not by HEAD', async () => {
    await subscribe(sink.url)
    await until(async () => sink.messages().length === 2, 'both regions are asked')
    const url = sink.messages()[0]!.SubscribeURL!
    const head = await fetch(url, { method: 'HEAD' })
    expect(head.status).toBe(404)
    expect((await statusesOf())[0]).toEqual(['pending', 'pending'])
    for (let time = 0; time < 2; time++) {
      const answer = await fetch(url)
      expect([answer.status, ((await answer.json()) as { data: object }).data]).toMatchObject([
        200,
        { status: 'confirmed' },
      ])
    }
    const wrong = await fetch(url.replace('/confirm?', '/unsubscribe?'))
    expect(wrong.status).toBe(404)
    expect((await statusesOf())[0]!.toSorted()).toEqual(['confirmed', 'pending'])
  })

  it.each([
    ['nothing', ''],
    ['no token of ours', '?Token=x'],
    ['a token of nobody', `?Token=${'0'.repeat(96)}`],
  ])('refuse %s', async (_, query) => {
    for (const name of ['confirm', 'unsubscribe']) {
      const answer = await fetch(`${harness.url}/v1/notifications/${name}${query}`)
      expect([400, 404]).toContain(answer.status)
    }
  })

  it('refuse a modified token, and one of a deleted subscription', async () => {
    const { body } = await subscribe(sink.url)
    await sink.confirm()
    const id = body.data.subscriptionDetails[0].url.split(':').at(-1)
    const token = tokenOf(harness.ctx.custody.notary, 'unsubscribe', id)
    const open = (given: string) => fetch(`${harness.url}/v1/notifications/unsubscribe?Token=${given}`)
    expect((await open(token.replace(/.$/, token.endsWith('0') ? '1' : '0'))).status).toBe(404)
    await tenant.http('DELETE', `${path}/${body.data.id}`)
    expect((await open(token)).status).toBe(404)
  })
})
