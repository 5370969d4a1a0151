import { afterAll, beforeAll, expect, it } from 'vitest'
import { rotateWebhookKeys } from '#custody/installation/index'
import { urlOf } from '#testing/databases/database-clone'
import { testRootKey } from '#testing/databases/template'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import { openWebhookReceiver, verifyWebhook, type WebhookReceiver } from '#testing/servers/webhook-receiver'

let harness: Harness
let receiver: WebhookReceiver

beforeAll(async () => {
  harness = await openHarness({ engines: false })
  receiver = await openWebhookReceiver(harness.http)
})
afterAll(async () => {
  await receiver?.close()
  await harness?.close()
})

async function bezant(...args: string[]) {
  const env = { DATABASE_URL: urlOf(harness.connection), BEZANT_ROOT_KEY: testRootKey.toString('hex') }
  const { code, stdout, stderr } = await runCommand({ command: 'webhook-keys', args, env })
  return { code, stdout, stderr }
}

/** The test message that begins a subscription, which is signed like any webhook. */
async function testMessage() {
  const body = { endpoint: `${receiver.url}?n=${receiver.received.length}` }
  expect((await harness.http('POST', '/v2/notifications/subscriptions', { body })).status).toBe(200)
  const found = receiver.received.at(-1)!
  return { found, keyId: String(found.headers['x-circle-key-id']) }
}

it('rotates the keys of webhooks: new ones sign, and what the former ones signed stays verifiable', async () => {
  const before = await testMessage()
  const { code, stdout, stderr } = await bezant('rotate', '--json')
  expect([code, stderr]).toEqual([0, ''])
  const made = JSON.parse(stdout)
  expect(made.id).not.toBe(before.keyId)
  const { webhookSigner } = harness.ctx.custody
  await until(async () => (await webhookSigner.keyId()) === made.id, 'the process signs with the new keys')
  const after = await testMessage()
  expect(after.keyId).toBe(made.id)
  for (const { found } of [before, after]) await verifyWebhook(found, harness.http)
  const keyOf = async (id: string) =>
    (await harness.http('GET', `/v2/notifications/publicKey/${id}`)).body.data
  expect(await keyOf(made.id)).toMatchObject(made)
  expect((await keyOf(before.keyId)).publicKey).not.toBe(made.publicKey)
  const listed = (await bezant('list', '--json')).stdout.trim().split('\n')
  expect(listed.map((line) => JSON.parse(line).id)).toEqual([made.id, before.keyId])
  expect(stdout).not.toMatch(/PRIVATE|sealed/i)
})

it('signs with the keys of the last of several rotations at once, which every process finds', async () => {
  const rotate = () => rotateWebhookKeys({ ...harness.ctx, db: harness.database })
  const ids = (await Promise.all([rotate(), rotate(), rotate()])).map(({ id }) => id)
  const [newest] = (await bezant('list', '--json')).stdout.trim().split('\n')
  const { id } = JSON.parse(newest!)
  expect(ids).toContain(id)
  await until(async () => (await harness.ctx.custody.webhookSigner.keyId()) === id, 'the newest keys sign')
})

it('does not rotate without the root key, and names its actions', async () => {
  const env = { DATABASE_URL: urlOf(harness.connection), BEZANT_ROOT_KEY: '11'.repeat(32) }
  const refused = await runCommand({ command: 'webhook-keys', args: ['rotate'], env })
  expect([refused.code, refused.stdout]).toEqual([1, ''])
  expect(await bezant('forget')).toMatchObject({ code: 2, stderr: expect.stringContaining('rotate') })
})
