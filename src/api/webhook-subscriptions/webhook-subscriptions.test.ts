import { createPublicKey, randomUUID } from 'node:crypto'
import { initiateDeveloperControlledWalletsClient } from '@circle-fin/developer-controlled-wallets'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { notificationTypes } from '#engines/webhooks/index'
import { compileResponse } from '#runtime/http/validate'
import { type Harness, openHarness } from '#testing/platform/harness'
import type { Tenant } from '#testing/platform/tenant'
import { openWebhookReceiver, verifyWebhook, type WebhookReceiver } from '#testing/servers/webhook-receiver'
import { webhookSubscriptionSchema } from './schema.ts'

let harness: Harness
let tenant: Tenant
let receiver: WebhookReceiver

beforeAll(async () => {
  harness = await openHarness({ engines: false })
})
beforeEach(async () => {
  tenant = await harness.newEntity()
  receiver = await openWebhookReceiver(tenant.http)
  return () => receiver.close()
})
afterAll(() => harness?.close())

const path = '/v2/notifications/subscriptions'
const subscribe = (body: object, as = tenant) => as.http('POST', path, { body })
const list = async (as = tenant) => (await as.http('GET', path)).body.data
const hasShape = compileResponse(webhookSubscriptionSchema)

describe('webhook subscriptions', () => {
  it('are created, read, changed and deleted through the published client, which also reads the key', async () => {
    const { apiKey, entitySecret } = tenant
    const client = initiateDeveloperControlledWalletsClient({ apiKey, entitySecret, baseUrl: harness.url })
    const created = await client.createSubscription({ endpoint: receiver.url })
    expect(created.status).toBe(200)
    const subscription = created.data!
    expect(hasShape(subscription)).toBe(true)
    expect(subscription).toEqual({
      id: expect.any(String),
      name: new URL(receiver.url).host,
      endpoint: receiver.url,
      enabled: true,
      createDate: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updateDate: subscription.createDate,
      notificationTypes: ['*'],
      restricted: false,
    })
    const { id } = subscription
    const types = ['transactions.outbound', 'transactions.inbound', 'transactions.inbound']
    const second = (await subscribe({ endpoint: receiver.url, notificationTypes: types })).body.data
    expect([second.notificationTypes, second.restricted]).toEqual([types.slice(0, 2).toSorted(), true])
    expect((await client.listSubscriptions()).data).toEqual([second, subscription])
    expect((await client.getSubscription(id)).data).toEqual(subscription)
    const changed = await client.updateSubscription({ id, name: 'Shop', enabled: false })
    expect(changed.data).toEqual({
      ...subscription,
      name: 'Shop',
      enabled: false,
      updateDate: expect.any(String),
    })
    expect(changed.data!.updateDate! > subscription.updateDate!).toBe(true)
    expect((await client.deleteSubscription(id)).status).toBe(204)
    expect((await client.listSubscriptions()).data).toEqual([second])
    await expect(client.getSubscription(id)).rejects.toMatchObject({ status: 404 })
    await expect(client.deleteSubscription(id)).rejects.toMatchObject({ status: 404 })

    const keyId = String(receiver.received.at(-1)!.headers['x-circle-key-id'])
    const key = (await client.getNotificationSignature(keyId)).data!
    expect(key).toMatchObject({ id: keyId, algorithm: 'ECDSA_SHA_256', createDate: expect.any(String) })
    const der = Buffer.from(key.publicKey!, 'base64')
    const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey({
      key: der,
      format: 'der',
      type: 'spki',
    })
    expect([asymmetricKeyType, asymmetricKeyDetails?.namedCurve]).toEqual(['ec', 'prime256v1'])
    await expect(client.getNotificationSignature(randomUUID())).rejects.toMatchObject({ status: 404 })
  })

  it('begin with HEAD and a signed test message, whose bytes are documented', async () => {
    await subscribe({ endpoint: receiver.url })
    expect(receiver.received.map(({ method }) => method)).toEqual(['HEAD', 'POST'])
    const test = receiver.received[1]!
    const zero = '00000000-0000-0000-0000-000000000000'
    const { timestamp } = JSON.parse(test.body)
    expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/)
    expect(test.body).toBe(
      `{"subscriptionId":"${zero}","notificationId":"${zero}","notificationType":"webhooks.test","notification":{"hello":"world"},"timestamp":"${timestamp}","version":2}`,
    )
    expect(test.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': zero })
    await verifyWebhook(test, tenant.http)
    const forged = { ...test, bytes: Buffer.from(test.body.replace('world', 'w0rld')) }
    await expect(verifyWebhook(forged, tenant.http)).rejects.toThrow('ECDSA')
    const late = { ...test, headers: { ...test.headers, 'webhook-timestamp': '1' } }
    await expect(verifyWebhook(late, tenant.http)).rejects.toThrow('Ed25519')
  })

  it('take every documented type, alone and together, and refuse others by name', async () => {
    const known = notificationTypes.filter((type) => type !== '*')
    const { body } = await subscribe({ endpoint: receiver.url, notificationTypes: known })
    expect(body.data).toMatchObject({ notificationTypes: known.toSorted(), restricted: true })
    const mixed = await subscribe({ endpoint: receiver.url, notificationTypes: ['contracts.*', '*'] })
    expect(mixed.body.data).toMatchObject({ notificationTypes: ['*'], restricted: false })
    for (const types of [['webhooks.test'], ['transactions.failed'], ['Transactions.*'], [], ['*', 7], '*']) {
      const refused = await subscribe({ endpoint: receiver.url, notificationTypes: types })
      expect([refused.status, refused.body.code]).toEqual([400, 2])
      expect(refused.body.errors[0].location).toMatch(/^notificationTypes/)
    }
  })

  it('are repeated without a second one, and limited to 20, also for concurrent requests', async () => {
    const first = await subscribe({ endpoint: receiver.url })
    expect((await subscribe({ endpoint: receiver.url, notificationTypes: ['*'] })).body).toEqual(first.body)
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) => subscribe({ endpoint: `${receiver.url}/${index}` })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(19)
    for (const { body } of answers.filter(({ status }) => status !== 200)) expect(body.code).toBe(429)
    expect(await list()).toHaveLength(20)
    const live = await harness.newEntity('LIVE')
    expect((await subscribe({ endpoint: receiver.url }, live)).status).toBe(200)
    expect(await list(live)).toHaveLength(1)
  })

  it('are changed by both fields alone, and by their owner alone', async () => {
    const { id } = (await subscribe({ endpoint: receiver.url })).body.data
    const update = (body: object, as = tenant) => as.http('PATCH', `${path}/${id}`, { body })
    for (const [body, location] of [
      [{ name: 'Shop' }, 'enabled'],
      [{ enabled: true }, 'name'],
      [{ name: '', enabled: true }, 'name'],
      [{ name: 'x'.repeat(257), enabled: true }, 'name'],
      [{ name: 'Shop', enabled: 'yes' }, 'enabled'],
    ] as const) {
      const { status, body: refused } = await update(body)
      expect([status, refused.code, refused.errors[0].location]).toEqual([400, 2, location])
    }
    const { id: another } = (await subscribe({ endpoint: `${receiver.url}/another` })).body.data
    const named = await update({ id: another, name: new URL(receiver.url).host, enabled: true })
    expect([named.status, named.body.data.id], 'the path alone names the subscription').toEqual([200, id])
    expect((await tenant.http('DELETE', `${path}/${another}`)).status).toBe(204)
    const other = await harness.newEntity()
    const refused = await update({ name: 'Mine', enabled: false }, other)
    expect([refused.status, refused.body.errors[0].location]).toEqual([404, 'id'])
    expect(await list()).toMatchObject([{ id, enabled: true, name: new URL(receiver.url).host }])
    const v1 = await tenant.http('GET', '/v1/notifications/subscriptions')
    expect(v1.body.data).toEqual([])
    expect((await tenant.http('DELETE', `/v1/notifications/subscriptions/${id}`)).status).toBe(404)
  })
})

describe('an endpoint', () => {
  it.each(['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '169.254.169.254'])(
    'property 53: is refused, and not called, when it is %s on a server for the public',
    async (host) => {
      harness.ctx.config.notificationTargets = 'public'
      const local = receiver.url.replace('127.0.0.1', host)
      const answers = [
        await subscribe({ endpoint: local }),
        await subscribe({ endpoint: local.replace('http:', 'https:') }),
      ]
      harness.ctx.config.notificationTargets = 'loopback'
      for (const { status, body } of answers)
        expect([status, body.code, body.errors[0].location]).toEqual([400, 2, 'endpoint'])
      expect(receiver.received).toEqual([])
      expect(await list()).toEqual([])
    },
  )

  it('must answer both HEAD and the test message with 2xx, or the error reports its answer', async () => {
    for (const method of ['HEAD', 'POST']) {
      for (const status of [302, 405, 500]) {
        receiver.behave((request, response, taken) =>
          request.method === method ? response.writeHead(status, { location: '/elsewhere' }).end() : taken(),
        )
        const { status: answered, body } = await subscribe({ endpoint: receiver.url })
        expect([answered, body.code, body.errors[0].location]).toEqual([400, 2, 'endpoint'])
        expect(body.message).toContain(`answered ${method} with ${status}`)
      }
    }
    receiver.behave((request, response, taken) =>
      request.method === 'POST' ? response.socket?.destroy() : taken(),
    )
    expect((await subscribe({ endpoint: receiver.url })).body.message).toMatch(/did not answer POST/)
    expect(receiver.received.some(({ path: asked }) => asked === '/elsewhere')).toBe(false)
    expect(await list()).toEqual([])
    const own = await subscribe({ endpoint: `${harness.url}/ping` })
    expect([own.status, own.body.message]).toEqual([400, expect.stringContaining('is this server itself')])
  })
})
