import { startSandbox } from 'bezant/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openShop } from '../shop.js'
import { untilState } from './until-state.js'

let sandbox, shop

beforeAll(async () => {
  sandbox = await startSandbox()
  shop = await openShop(sandbox)
  await shop.subscribe()
})
afterAll(async () => {
  shop?.close()
  await sandbox?.stop()
})

test('an order is paid', async () => {
  const order = await shop.sell('20.00')
  await sandbox.faucet(order.address, '20')
  await untilState(order, 'paid')
})

test('an order that is paid in part is underpaid when its time is over', async () => {
  const order = await shop.sell('20.00')
  await sandbox.faucet(order.address, '5')
  await untilState(order, 'part paid')
  await sandbox.clock.advance('P1D')
  await untilState(order, 'underpaid')
})

test('a reorg takes a payment back, and it returns', async () => {
  const order = await shop.sell('20.00')
  await sandbox.faucet(order.address, '20')
  await untilState(order, 'paid')
  await sandbox.chain('BASE-SEPOLIA').pause()
  await sandbox.chain('BASE-SEPOLIA').reorg({ depth: 1 })
  await untilState(order, 'open')
  await sandbox.chain('BASE-SEPOLIA').resume()
  await untilState(order, 'paid')
  const [payment] = await sandbox.call('GET', `/v1/payments?paymentIntentId=${order.intentId}`)
  const timeline = await sandbox.timeline(payment.id, { until: 'paid' })
  expect(timeline).toPassThrough('pending', 'paid', 'pending', 'paid')
})

test('an order that nobody pays has expired after five days', async () => {
  const order = await shop.sell('20.00')
  const { fired } = await sandbox.clock.advance('P5D')
  expect(fired).toContainEqual(
    expect.objectContaining({ timer: 'paymentIntentExpiry', resourceId: order.intentId }),
  )
  await untilState(order, 'expired')
})
