/** The money that merchants receive does not depend on what a worker may sign. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fundMerchantWallet, worldOf } from '#testing/builders/world'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness()
})
afterAll(() => harness?.close())

it('credits a deposit while the journal of its worker is gone', async () => {
  const world = worldOf(harness)
  await fundMerchantWallet(world, 1_000_000n)
  const raised = countAlarm('journal-gone')
  await rm(join(harness.ctx.config.dataDir, 'journals'), { recursive: true })
  await until(() => raised() > 0, 'the worker misses its journal')
  await fundMerchantWallet(world, 2_000_000n)
  const { available } = await world.call('GET', '/v1/businessAccount/balances')
  expect(available).toEqual([{ amount: '3.00', currency: 'USD' }])
})
