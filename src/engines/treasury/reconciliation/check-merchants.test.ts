import { afterAll, beforeAll, expect, it } from 'vitest'
import { openAsOwner, sql } from '#runtime/db/db'
import {
  fundMerchantWallet,
  makeBusinessTransfer,
  makePaidIntent,
  makePayout,
  type World,
  worldOf,
} from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { checkMerchants } from './index.ts'

let harness: Harness
let world: World
beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
})
afterAll(() => harness.close())

const usd = (amount: string) => ({ amount, currency: 'USD' })
const found = async () => (await checkMerchants(harness.database)).map(({ what }) => what)
const sound = () => until(async () => (await found()).length === 0, 'merchants own what they should')

it('balances of merchants equal the sum of their deposits and disbursements, also while these are in progress', async () => {
  await fundMerchantWallet(world, 10_000_000n)
  const { id: intentId } = await makePaidIntent(world, 3_000_000n)
  const { address } = await world.payee()
  await world.ownAddress()
  await world.call('POST', `/v1/paymentIntents/${intentId}/refund`, {
    idempotencyKey: crypto.randomUUID(),
    destination: { address, chain: 'BASE' },
    amount: { currency: 'USD' },
    toAmount: usd('1'),
  })
  const ids = [await makePayout(world, { amount: usd('2') }), await makeBusinessTransfer(world)]
  await sound()
  const isOpen = sql`select 1 from payouts where status = 'pending' union all select 1 from payments where status = 'pending'
    union all select 1 from transfers where status in ('pending', 'running')`
  await until(async () => (await harness.database.all(isOpen)).length === 0, 'everything has ended')
  expect(ids).toHaveLength(2)
  await sound()
})

it.each([
  [
    'a credit without a deposit',
    `update payments set amount = amount - 1 where status = 'paid'`,
    'differ from the sum of its deposits',
  ],
  [
    'a payout that was not booked',
    `update payouts set status = 'failed' where status = 'complete'`,
    'differ from the sum of its deposits',
  ],
])('%s is found', async (_, forgery, said) => {
  await sound()
  await harness.stopEngines()
  const owner = openAsOwner(harness.connection)
  const what = await owner
    .tx(async (tx) => {
      await tx.script(forgery)
      throw (await checkMerchants(tx)).map((error) => error.what)
    })
    .catch((thrown) => thrown)
  await owner.close()
  harness.startEngines()
  expect(what.join()).toContain(said)
})
