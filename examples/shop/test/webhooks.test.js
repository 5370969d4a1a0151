import { startSandbox } from 'bezant/testing'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { openShop } from '../shop.js'
import { untilState } from './until-state.js'

let sandbox, shop

beforeAll(async () => {
  sandbox = await startSandbox({ seed: 7 })
  shop = await openShop(sandbox)
  await shop.subscribe()
  // An inbox of the sandbox gets the same messages: a test can look at them, and pass them on.
  await sandbox.catcher.subscribe('v1')
})
beforeEach(() => sandbox.faults.clear())
afterAll(async () => {
  shop?.close()
  await sandbox?.stop()
})

/** The message that tells the inbox of this state of an order. */
const caught = async (order, status) => {
  for (;;) {
    const message = await sandbox.catcher.next({ topic: 'paymentIntents', resourceId: order.intentId })
    const { paymentIntent } = JSON.parse(JSON.parse(message.body).Message)
    if (paymentIntent.timeline[0].status === status) return message
  }
}

test('a webhook that is refused twice comes a third time', async () => {
  const order = await shop.sell('20.00')
  await vi.waitFor(() => expect(order.counted).toBe(1), { timeout: 30_000 })
  await sandbox.faults.apply({
    rules: [
      {
        name: 'refused',
        on: 'webhook',
        match: { endpoint: `${shop.webhooks}*`, topic: 'paymentIntents' },
        when: { times: 2 },
        do: { status: 503 },
      },
    ],
  })
  await sandbox.faucet(order.address, '20')
  await untilState(order, 'paid')
  expect(await sandbox.faults.met()).toMatchObject([{ hit: 1 }, { hit: 2 }])
})

test('a webhook that comes three times counts once, and an old one not at all', async () => {
  await sandbox.faults.apply({ rules: [{ name: 'thrice', on: 'webhook', do: { duplicate: 2 } }] })
  const order = await shop.sell('20.00')
  const old = await caught(order, 'pending')
  await sandbox.faucet(order.address, '20')
  await untilState(order, 'paid')
  const counted = order.counted
  expect(counted).toBe(2)
  const { status } = await sandbox.catcher.inbox('tests').forward(old.id, shop.webhooks)
  expect(status).toBe(200)
  expect(order).toMatchObject({ state: 'paid', counted })
})

test('a forged webhook is refused', async () => {
  const order = await shop.sell('20.00')
  const { body, signature } = await caught(order, 'pending')
  expect(signature.state).toBe('valid')
  const forged = { ...JSON.parse(body), MessageId: 'another' }
  const { status } = await fetch(shop.webhooks, { method: 'POST', body: JSON.stringify(forged) })
  expect(status).toBe(400)
  expect(order.state).toBe('open')
})
