import { randomBytes } from 'node:crypto'
import { startSandbox } from 'bezant/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openShop } from '../shop.js'
import { untilState } from './until-state.js'

let sandbox, shop, order

/** An address of somebody outside. */
const someone = () => `0x${randomBytes(20).toString('hex')}`
const balanceOf = async () => (await sandbox.call('GET', '/v1/businessAccount/balances')).available[0]?.amount

beforeAll(async () => {
  sandbox = await startSandbox()
  shop = await openShop(sandbox)
  await shop.subscribe()
  order = await shop.sell('21.00')
  await sandbox.faucet(order.address, '21')
  await untilState(order, 'paid')
  // The first payment out waits until the faucet has given the treasury its gas.
  const { id } = await shop.payOut('1.00', someone())
  await sandbox.timeline(id, { until: 'complete' })
  await sandbox.snapshots.save('paid')
})
// Each test begins with the same paid order and 20 dollars, whatever the one before did with the money.
beforeEach(async () => {
  await sandbox.snapshots.restore('paid')
  expect(await balanceOf()).toBe('20.00')
})
afterAll(async () => {
  shop?.close()
  await sandbox?.stop()
})

test('a refund returns the money', async () => {
  const refund = await shop.refund(order, '20.00', someone())
  await sandbox.timeline(refund.id, { until: 'paid' })
  expect(await balanceOf()).toBe('0.00')
})

test('a payout pays a supplier', async () => {
  const supplier = someone()
  const payout = await shop.payOut('8.00', supplier)
  const { movement } = await sandbox.timeline(payout.id, { until: 'complete' })
  expect(movement).toMatchObject({ direction: 'out', amounts: ['8'], to: { address: supplier } })
  expect(await balanceOf()).toBe('12.00')
})

test('a payout whose answer is lost is paid once', async () => {
  await sandbox.faults.apply({
    rules: [
      {
        name: 'answer-lost',
        on: 'request',
        match: { route: 'POST /v1/payouts' },
        when: { times: 2 },
        do: { lose: 'answer' },
      },
    ],
  })
  const payout = await shop.payOut('8.00', someone())
  expect(await sandbox.faults.met()).toHaveLength(2)
  await sandbox.timeline(payout.id, { until: 'complete' })
  expect(await sandbox.call('GET', '/v1/payouts')).toHaveLength(2)
  expect(await balanceOf()).toBe('12.00')
})
