import { afterAll, beforeAll, expect, it } from 'vitest'
import { freeze, unfreeze } from '#custody/freezes/index'
import { newId } from '#lib/ids'
import { sql } from '#runtime/db/db'
import {
  fundMerchantWallet,
  makeActiveRecipient,
  makePayout,
  type World,
  worldOf,
} from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'

let harness: Harness
let poor: World
let rich: World
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  ;[poor, rich] = [worldOf(harness, await harness.newEntity()), worldOf(harness, await harness.newEntity())]
})
afterAll(() => harness.close())

const waiting = isDeep ? 40 : 6
const usd = (amount: string) => ({ amount, currency: 'USD' })
const statusOf = async (world: World, id: string): Promise<string> =>
  (await world.call('GET', `/v1/payouts/${id}`)).status

it('payouts whose coins are on another chain delay no other entity, however many wait', async () => {
  await fundMerchantWallet(poor, 40_000_000n, 'ETH')
  await fundMerchantWallet(rich, 5_000_000n)
  await makeActiveRecipient(rich).then((payee) => Object.assign(rich, { payee: async () => payee }))
  // From here on the clock is stopped, so that no disbursement times out.
  harness.clock.hold()
  const stuck = await Promise.all(
    Array.from({ length: waiting }, () => makePayout(poor, { amount: usd('1') })),
  )
  const { id } = await makePayout(rich, { amount: usd('5') })
  await until(async () => (await statusOf(rich, id)) === 'complete', 'the payout of the other is complete')
  for (const each of stuck) expect(await statusOf(poor, each.id)).toBe('pending')
  harness.clock.release()
})

it('payouts of a frozen entity delay no other entity', async () => {
  const held = worldOf(harness, await harness.newEntity())
  const subject = { entityId: held.tenant.entityId }
  const operator = { ...harness.ctx, actor: 'operator' }
  await fundMerchantWallet(held, 1_000_000n)
  await fundMerchantWallet(rich, 1_000_000n)
  await freeze(operator, subject)
  const frozen = await makePayout(held, { amount: usd('1') })
  const { id } = await makePayout(rich, { amount: usd('1') })
  await until(async () => (await statusOf(rich, id)) === 'complete', 'the payout of the other is complete')
  expect(await statusOf(held, frozen.id)).toBe('pending')
  await unfreeze(operator, subject)
  await until(async () => (await statusOf(held, frozen.id)) === 'complete', 'the thawed payout is complete')
})

it('a payout that fails to be submitted again and again delays no other payout', async () => {
  await fundMerchantWallet(rich, 2_000_000n)
  await harness.stopEngines()
  const broken = await makePayout(rich, { amount: usd('1') })
  const sound = await makePayout(rich, { amount: usd('1') })
  await harness.database.run(sql`update payouts set token_id = ${newId(0)} where id = ${broken.id}`)
  harness.startEngines()
  await until(async () => (await statusOf(rich, sound.id)) === 'complete', 'the sound payout is complete')
})
