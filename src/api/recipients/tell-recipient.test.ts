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

const told = () =>
  sink
    .notices('addressBookRecipients')
    .map((notice) => notice['addressBookRecipient'] as Record<string, unknown>)
const untilTold = (count: number) => until(async () => told().length >= count, `${count} are told`)

it('each status of a recipient is told, also one that was soon over, as its GET shows it', async () => {
  const { id } = await makeRecipient(world)
  await untilTold(2)
  expect(told().map(({ status }) => status)).toEqual(['pending', 'active'])
  expect(told()[1]).toEqual(await world.call('GET', `/v1/addressBook/recipients/${id}`))
  await world.call('PATCH', `/v1/addressBook/recipients/${id}`, { metadata: { nickname: 'Ada L.' } })
  await untilTold(4)
  expect(told().map(({ status }) => status)).toEqual(['pending', 'active', 'pending', 'active'])
})

it('the verification of an address to withdraw to is told in the words of recipients', async () => {
  const { id, address } = await makeRecipientAddress(world)
  await untilTold(2)
  expect(told().map(({ status }) => status)).toEqual(['pending', 'active'])
  expect(told()[1]).toMatchObject({ id, address, chain: 'BASE', metadata: { nickname: 'Our cold wallet' } })
})
