/** Payments from coins that are on other chains, in a sandbox whose wires are minted on one chain. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkLedger } from '#testing/builders/ledger-checks'
import { rebalancingsOf } from '#testing/builders/rebalancings'
import {
  freshAddress,
  fundMerchantWallet,
  makeActiveRecipient,
  makeDeposit,
  worldOf,
} from '#testing/builders/world'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['ETH-SEPOLIA', 'BASE-SEPOLIA', 'ARB-SEPOLIA'] })
})
afterAll(() => harness?.close())

const hourMs = 3_600_000
const usd = (amount: string) => ({ amount, currency: 'USD' })

async function merchant() {
  const world = worldOf(harness, await harness.newEntity())
  const { base: _, ...own } = rebalancingsOf(world)
  const payeeOn = (chain: string) => makeActiveRecipient(world, { chain, address: freshAddress() })
  const payOn = async (chain: string, amount: string) => own.payTo(await payeeOn(chain), amount)
  const waits = (id: string, reason: string) =>
    until(async () => (await own.payoutOf(id)).waitingFor?.reason === reason, `the payout says ${reason}`)
  const wire = async (amount: string) => {
    const { id } = await makeDeposit(world, amount)
    await until(async () => {
      const deposit = await world.call('GET', `/v1/businessAccount/deposits/${id}`)
      return deposit.status === 'complete'
    }, 'the wire is credited')
  }
  return { world, ...own, payeeOn, payOn, waits, wire }
}

it('property 130: after a wire a sandbox pays on every chain, from several chains, and also after a day without workers', async () => {
  const own = await merchant()
  await own.wire('10')
  await fundMerchantWallet(own.world, 5_000_000n, 'BASE')
  // No chain has 12 alone.
  const { id, address } = await own.payOn('ARB', '12')
  expect(await own.ended(id)).toMatchObject({ status: 'complete' })
  expect((await own.payoutOf(id)).waitingFor).toBeUndefined()
  const arbitrum = harness.chain('ARB-SEPOLIA')
  expect(await arbitrum.oracle.balanceOf(address, arbitrum.tokens.USDC)).toBe(12_000_000n)
  await own.allArrived()
  expect((await own.rows()).map(({ amount }) => amount)).toEqual([10_000_000n, 2_000_000n])

  const payee = await own.payeeOn('ARB')
  await harness.stopEngines()
  const late = await own.payTo(payee, '3')
  harness.clock.moveMs(25 * hourMs)
  harness.startEngines()
  expect(await own.ended(late.id)).toMatchObject({ status: 'complete' })
  await own.allArrived()
  await checkLedger(harness.database)
})

it('property 130: without rebalancing a payment names the chain, what is missing and what brings it, and waits 24 hours', async () => {
  const own = await merchant()
  await own.wire('10')
  expect((await own.command('forbid')).code).toBe(0)
  // Another wire does not allow again what the operator forbade.
  await own.wire('1')
  expect((await own.command('show')).stdout).toMatch(/allowed +no\n/)
  const alarms = countAlarm('coins-short')
  const first = await own.payOn('BASE', '4')
  await own.waits(first.id, 'coins_on_other_chains')
  const waitingFor = { reason: 'coins_on_other_chains', chain: 'BASE', missing: usd('4.00') }
  const payout = await own.payoutOf(first.id)
  expect(payout).toMatchObject({ status: 'pending', waitingFor })
  expect(payout.waitingFor.message).toMatch(/4\.00 USD .*BASE.*deposit.*bezant rebalancing allow/)
  await until(() => alarms() > 0, 'the alarm is raised')

  harness.clock.moveMs(24 * hourMs - 20_000)
  const second = await own.payOn('BASE', '1')
  await own.waits(second.id, 'coins_on_other_chains')
  expect(await own.payoutOf(first.id)).toMatchObject({ status: 'pending' })
  harness.clock.moveMs(21_000)
  expect(await own.ended(first.id)).toMatchObject({
    status: 'failed',
    errorCode: 'insufficient_funds',
    // Its last look may have counted the second payment too.
    waitingFor: { reason: waitingFor.reason, chain: waitingFor.chain },
  })
  // The message is true: the operator allows it, and the payment that still waits is paid.
  await own.allow()
  expect(await own.ended(second.id)).toMatchObject({ status: 'complete' })
  await own.allArrived()
})

it('property 130: a payment waits for coins that are on their way, for longer than a day, and says so', async () => {
  const own = await merchant()
  await own.wire('10')
  const base = harness.chain('BASE-SEPOLIA')
  const payee = await own.payeeOn('BASE')
  // The treasury there gets its gas.
  expect(await own.ended((await own.payTo(payee, '1')).id)).toMatchObject({ status: 'complete' })
  await own.allArrived()
  await base.setAutomine(false)
  const slow = await own.payTo(payee, '2')
  await until(async () => {
    const last = (await own.rows()).at(-1)
    return last?.amount === 2_000_000n && last.status === 'minting'
  }, 'the mint is recorded')
  await own.waits(slow.id, 'coins_moving')
  expect((await own.payoutOf(slow.id)).waitingFor).toMatchObject({ chain: 'BASE', fromChain: 'ETH' })
  harness.clock.moveMs(25 * hourMs)
  await base.setAutomine(true)
  await base.mine()
  expect(await own.ended(slow.id)).toMatchObject({ status: 'complete' })
  await own.allArrived()
  await checkLedger(harness.database)
})
