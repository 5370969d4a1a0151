import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  fundMerchantWallet,
  makeActiveAddress,
  makeBusinessTransfer,
  makePayment,
  makePaymentIntent,
  makePayout,
  makeRecipient,
  type World,
  worldOf,
} from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { openWebhookSink, type WebhookSink } from '#testing/servers/webhook-sink'

/*
 * A receiver of two messages about a resource knows by `updateDate` which is the later one, whatever the clocks of the
 * workers.
 */
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

const keys = ['paymentIntent', 'payment', 'payout', 'transfer', 'addressBookRecipient']
type Notified = { id: string; status?: string; updateDate: string }

/** All notifications, each resource under its id, in the order of arrival. */
function notified(): Map<string, Notified[]> {
  const resources = new Map<string, Notified[]>()
  for (const notice of sink.notices()) {
    const shown = keys.map((key) => notice[key]).find(Boolean) as Notified
    resources.set(shown.id, [...(resources.get(shown.id) ?? []), shown])
  }
  return resources
}
const statusesOf = (id: string) => (notified().get(id) ?? []).map(({ status }) => status)
const untilNotified = (id: string, statuses: readonly string[]) =>
  until(async () => statusesOf(id).join() === statuses.join(), `${id} is reported as ${statuses}`)

/**
 * Checks that the dates of each resource rise from message to message, and that the last message equals the GET of its
 * resource; `paths` is keyed by id.
 */
async function isInOrder(paths: Record<string, string>): Promise<void> {
  for (const shown of notified().values()) {
    const dates = shown.map(({ updateDate }) => updateDate)
    expect(dates, JSON.stringify(shown)).toEqual([...new Set(dates)].sort())
  }
  for (const [id, path] of Object.entries(paths)) {
    const now = await world.call('GET', `${path}/${id}`)
    expect(notified().get(id)?.at(-1)).toEqual(now)
    expect(now.updateDate >= now.createDate).toBe(true)
  }
}

describe('updateDate increases from message to message', () => {
  it('for changes within one millisecond', async () => {
    await fundMerchantWallet(world, 5_000_000n)
    const { address } = await world.call('POST', '/v1/businessAccount/wallets/addresses/deposit', {
      idempotencyKey: randomUUID(),
      chain: 'BASE',
      currency: 'USD',
    })
    await makeActiveAddress(world)
    harness.clock.hold()
    try {
      const { depositAddress } = await makePaymentIntent(world)
      const { id: payment } = await makePayment(world, depositAddress)
      const { id: payout } = await makePayout(world)
      const { id: out } = await makeBusinessTransfer(world)
      await harness.chain().send(address, 7n, 'USDC')
      await untilNotified(payment, ['pending', 'confirmed', 'paid'])
      await untilNotified(payout, ['pending', 'complete'])
      await untilNotified(out, ['pending', 'running', 'complete'])
      const incoming = () =>
        sink
          .notices('transfers')
          .map(({ transfer }) => transfer)
          .find(({ destination }) => destination.type === 'wallet')
      await until(async () => incoming() !== undefined, 'the incoming transfer is reported')
      await untilNotified(incoming().id, ['pending', 'running', 'complete'])
      await isInOrder({
        [payment]: '/v1/payments',
        [payout]: '/v1/payouts',
        [out]: '/v1/businessAccount/transfers',
        [incoming().id]: '/v1/businessAccount/transfers',
      })
    } finally {
      harness.clock.release()
    }
  })

  it('for changes by two hosts whose clocks are a minute apart, in order', async () => {
    await harness.stopEngines()
    const { id } = await makeRecipient(world, { metadata: { nickname: 'one' } })
    const renamed = (nickname: string) =>
      world.call('PATCH', `/v1/addressBook/recipients/${id}`, { metadata: { nickname } })
    const dates: string[] = []
    try {
      for (const [nickname, byMs] of [
        ['two', -60_000],
        ['three', 60_000],
        ['four', -60_000],
      ] as const) {
        harness.clock.moveMs(byMs)
        dates.push((await renamed(nickname)).updateDate)
      }
      harness.startEngines()
      await untilNotified(id, ['pending', 'pending', 'pending', 'pending', 'active'])
    } finally {
      harness.clock.moveMs(60_000)
      harness.startEngines()
    }
    expect(
      notified()
        .get(id)!
        .slice(1, 4)
        .map(({ updateDate }) => updateDate),
    ).toEqual(dates)
    await isInOrder({ [id]: '/v1/addressBook/recipients' })
  })

  it('for changes that a reorg reverts and another block repeats, on a host with a slow clock', async () => {
    const { id: intent, depositAddress } = await makePaymentIntent(world)
    const chain = harness.chain()
    const before = await chain.snapshot()
    const { id } = await makePayment(world, depositAddress)
    await untilNotified(id, ['pending', 'confirmed', 'paid'])
    const { transactionHash } = await world.call('GET', `/v1/payments/${id}`)
    const raw = await chain.rpc<string>('eth_getRawTransactionByHash', [transactionHash])
    harness.clock.moveMs(-60_000)
    try {
      await chain.revert(before)
      await chain.mine(2)
      await untilNotified(id, ['pending', 'confirmed', 'paid', 'pending'])
      await chain.rpc('eth_sendRawTransaction', [raw])
      await untilNotified(id, ['pending', 'confirmed', 'paid', 'pending', 'pending', 'confirmed', 'paid'])
      const { updateDate } = await world.call('GET', `/v1/paymentIntents/${intent}`)
      await until(
        async () => notified().get(intent)?.at(-1)?.updateDate === updateDate,
        'the intent is reported',
      )
      await isInOrder({ [id]: '/v1/payments', [intent]: '/v1/paymentIntents' })
    } finally {
      harness.clock.moveMs(60_000)
    }
  })
})
