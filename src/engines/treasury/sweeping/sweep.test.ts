import { afterAll, beforeAll, expect } from 'vitest'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import { makePaidIntent, makePayout, type World, worldOf } from '#testing/builders/world'
import { sendAsIssuer } from '#testing/nodes/issuer'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { drawnTests } from '#testing/runner/drawn'

let harness: Harness
let world: World
beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  // The clock is stopped, so that no disbursement times out unless a test moves it.
  harness.clock.hold()
})
afterAll(() => harness.close())

const usd = (amount: string) => ({ amount, currency: 'USD' })

async function ended(id: string): Promise<{ status: string; errorCode?: string }> {
  let payout = { status: 'pending' }
  await until(async () => {
    payout = await world.call('GET', `/v1/payouts/${id}`)
    return payout.status !== 'pending'
  }, 'the payout has ended')
  return payout
}

const sweepsOf = async (address: string) =>
  (
    await harness.database.all<{ status: string }>(
      sql`select status from sweeps where from_address = ${address} order by create_date, id`,
    )
  ).map(({ status }) => status)

const drawnIt = drawnTests(1, 2)

drawnIt(
  'coins that cannot be swept from one address are swept from others, and from that one as soon as possible',
  async () => {
    const blocked = await makePaidIntent(world, 5_000_000n)
    const poorer = await makePaidIntent(world, 3_000_000n)
    await sendAsIssuer(harness.chain(), 'blocklist', blocked.depositAddress)
    const { id } = await makePayout(world, { amount: usd('3') })
    expect(await ended(id)).toMatchObject({ status: 'complete' })
    expect((await sweepsOf(blocked.depositAddress))[0]).toBe('failed')
    expect(await sweepsOf(poorer.depositAddress)).toEqual(['complete'])
    await sendAsIssuer(harness.chain(), 'unblocklist', blocked.depositAddress)
    const rest = await makePayout(world, { amount: usd('5') })
    expect(await ended(rest.id)).toMatchObject({ status: 'complete' })
    await until(
      async () => (await sweepsOf(blocked.depositAddress)).at(-1) === 'complete',
      'the last sweep is complete',
    )
    await checkLedger(harness.database)
  },
)

drawnIt(
  'a payout whose coins cannot be swept at all fails with its reason, and the next one is paid',
  async () => {
    const raised = countAlarm('sweep-failed')
    const { depositAddress } = await makePaidIntent(world, 2_000_000n)
    await sendAsIssuer(harness.chain(), 'pause')
    const { id } = await makePayout(world, { amount: usd('2') })
    await until(async () => (await sweepsOf(depositAddress)).includes('failed'), 'a sweep has failed')
    await until(() => raised() > 0, 'the alarm is raised')
    harness.clock.moveMs(86_401_000)
    expect(await ended(id)).toMatchObject({ status: 'failed', errorCode: 'insufficient_funds' })
    await sendAsIssuer(harness.chain(), 'unpause')
    const next = await makePayout(world, { amount: usd('2') })
    expect(await ended(next.id)).toMatchObject({ status: 'complete' })
    await checkLedger(harness.database)
  },
)
