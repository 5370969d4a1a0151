import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { makeRecipient, makeRecipientAddress, type World, worldOf } from '../../../testing/builders.ts'
import { type Harness, openHarness } from '../../../testing/harness.ts'
import { until } from '../../../testing/until.ts'
import { openWebhookSink, type WebhookSink } from '../../../testing/webhook-sink.ts'

let harness: Harness
let world: World
let sink: WebhookSink
beforeAll(async () => {
  harness = await openHarness()
})
beforeEach(async () => {
  world = worldOf(harness, await harness.newEntity())
  sink = await openWebhookSink()
  await world.call('POST', '/v1/notifications/subscriptions', { endpoint: sink.url })
  await sink.confirm()
  return () => sink.close()
})
afterAll(() => harness?.close())

const shown = () =>
  sink
    .notices('addressBookRecipients')
    .map((notice) => notice['addressBookRecipient'] as Record<string, unknown>)
const untilShown = (count: number) =>
  until(async () => shown().length >= count, `${count} recipients were notified of`)

it('notifies of each status of a recipient, even a short one, as its GET shows it', async () => {
  const { id } = await makeRecipient(world)
  await untilShown(2)
  expect(shown().map(({ status }) => status)).toEqual(['pending', 'active'])
  expect(shown()[1]).toEqual(await world.call('GET', `/v1/addressBook/recipients/${id}`))
  await world.call('PATCH', `/v1/addressBook/recipients/${id}`, { metadata: { nickname: 'Ada L.' } })
  await untilShown(4)
  expect(shown().map(({ status }) => status)).toEqual(['pending', 'active', 'pending', 'active'])
})

it('notifies of the verification of a withdrawal address in the form of a recipient', async () => {
  const { id, address } = await makeRecipientAddress(world)
  await untilShown(2)
  expect(shown().map(({ status }) => status)).toEqual(['pending', 'active'])
  expect(shown()[1]).toMatchObject({ id, address, chain: 'BASE', metadata: { nickname: 'Our cold wallet' } })
})
