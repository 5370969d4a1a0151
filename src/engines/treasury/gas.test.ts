import { afterAll, beforeAll, expect, it } from 'vitest'
import { startEngines } from '#context'
import { sql } from '#runtime/db/db'
import { fundMerchantWallet, makePayout, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const alarms: { alarm?: string; entityId?: string; address?: string }[] = []

let harness: Harness
let engines: { stop(): Promise<void> }
beforeAll(async () => {
  harness = await openHarness({ engines: false })
  // The clock is stopped, so that no disbursement times out.
  harness.clock.hold()
  const log = { ...harness.ctx.log, error: (said: object) => void alarms.push(said) }
  // No faucet gives gas here, as outside of a sandbox.
  engines = startEngines({ ...harness.ctx, log: log as unknown as Harness['ctx']['log'] })
})
afterAll(async () => {
  await engines?.stop()
  await harness?.close()
})

it('a treasury without gas raises an alarm, and its payouts wait until it is funded', async () => {
  const world = worldOf(harness)
  await fundMerchantWallet(world, 2_000_000n)
  const { id } = await makePayout(world, { amount: { amount: '2', currency: 'USD' } })
  const raised = () => alarms.filter(({ alarm }) => alarm === 'treasury-low-on-gas')
  const low = () => raised()[0]
  await until(async () => low() !== undefined, 'the alarm is raised')
  const { address } = await harness.database.one<{ address: string }>(
    sql`select address from treasuries where entity_id = ${harness.entityId}`,
  )
  expect(low()).toMatchObject({ entityId: harness.entityId, address, blockchain: 'BASE-SEPOLIA' })
  expect(await harness.chain().oracle.transactions(address)).toEqual([])
  await harness.fundWallet(address, { native: '1' })
  await until(
    async () => (await world.call('GET', `/v1/payouts/${id}`)).status === 'complete',
    'the payout is complete',
  )
  expect(raised(), 'once, although the worker asked again and again').toHaveLength(1)
})
