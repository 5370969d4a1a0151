import { Circle } from '@circle-fin/circle-sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkLedger } from '#testing/builders/ledger-checks'
import { makePaymentIntent, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
let circle: Circle
beforeAll(async () => {
  harness = await openHarness()
  circle = new Circle(harness.apiKey, harness.url)
})
afterAll(() => harness.close())

const balances = async () => (await circle.balances.listBusinessBalances()).data.data!
const usd = (amount: string) => [{ amount, currency: 'USD' }]

it('is empty before the first payment, and for other merchants', async () => {
  expect(await balances()).toEqual({ available: [], unsettled: [] })
})

it('equals the sum of the payments per currency and the books', async () => {
  const { depositAddress } = await makePaymentIntent(worldOf(harness))
  await harness.chain().send(depositAddress, 12_340_001n, 'USDC')
  await harness.chain().send(depositAddress, 500_000n, 'EURC')
  await until(async () => (await balances()).available?.length === 2, 'both are credited')
  expect(await balances()).toEqual({
    available: [{ amount: '0.50', currency: 'EUR' }, ...usd('12.340001')],
    unsettled: [],
  })
  const other = await harness.newEntity()
  const answer = await other.http('GET', '/v1/businessAccount/balances')
  expect(answer.body).toEqual({ data: { available: [], unsettled: [] } })
  await checkLedger(harness.database)
})

it('subtracts the payments of an orphaned block, to the base unit', async () => {
  const before = await balances()
  const { depositAddress } = await makePaymentIntent(worldOf(harness))
  const snapshot = await harness.chain().snapshot()
  await harness.chain().send(depositAddress, 7n, 'USDC')
  await until(async () => (await balances()).available?.[1]?.amount === '12.340008', 'it is credited')
  await harness.chain().revert(snapshot)
  await harness.chain().mine(2)
  await until(async () => (await balances()).available?.[1]?.amount === '12.340001', 'it is taken back')
  expect((await balances()).available).toEqual(before.available)
  await checkLedger(harness.database)
})

it('accepts only the id of the main wallet', async () => {
  const { data } = (await circle.management.getAccountConfig()).data
  const ask = (walletId: string) =>
    harness.http('GET', '/v1/businessAccount/balances', { query: { walletId } })
  expect((await ask(data!.payments!.masterWalletId!)).status).toBe(200)
  expect((await ask('')).status).toBe(400)
  expect(await ask('1000')).toMatchObject({ status: 400, body: { code: 1069 } })
})
