import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freeze, unfreeze } from '#custody/freezes/index'
import { canonicalHead, hasProcessedSteps, startIndexer } from '#engines/indexer/index'
import { resolveHolds } from '#engines/ledger/holds/index'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { forgeMoney } from '#testing/builders/forged-money'
import {
  freshAddress,
  fundMerchantWallet,
  makeActiveRecipient,
  makePaymentIntent,
  makePayout,
  type World,
  worldOf,
} from '#testing/builders/world'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'
import { proveMoney } from './index.ts'

const unit = 1_000_000n

let harness: Harness
let owner: Database
beforeAll(async () => {
  harness = await openHarness()
  owner = openAsOwner(harness.connection)
})
afterAll(async () => {
  await owner.close()
  await harness.close()
})

/** A new merchant for each defect. */
const merchant = async () => worldOf(harness, await harness.newEntity())
const gapOf = async ({ tenant }: World) => {
  const { gaps } = await proveMoney(harness.database)
  return gaps.find(({ entityId }) => entityId === tenant.entityId)?.gap ?? 0n
}
const total = async () =>
  (await proveMoney(harness.database)).totals.find(({ currency }) => currency === 'USD')!
/** Waits until the engines are at the newest block, because the proof is expensive to request. */
const followed = () =>
  until(async () => {
    const { blockchain, rpc } = harness.chain()
    const [head, there] = await Promise.all([
      canonicalHead(harness.database, blockchain),
      rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false]),
    ])
    if (head?.hash !== there.hash) return false
    const engines = ['treasury', 'transactions'] as const
    const all = await Promise.all(
      engines.map((engine) => hasProcessedSteps(harness.database, engine, blockchain)),
    )
    return all.every(Boolean)
  }, 'the engines have followed the chain')
const usd = (amount: string) => ({ amount, currency: 'USD' })
const payoutEnded = (world: World, id: string) =>
  until(
    async () => (await world.call('GET', `/v1/payouts/${id}`)).status === 'complete',
    `payout ${id} is complete`,
  )
const treasuryOf = ({ tenant }: World) =>
  harness.database.one<{ address: string }>(
    sql`select address from treasuries where entity_id = ${tenant.entityId}`,
  )
/** A transfer of USDC by a holder of a stolen key. */
async function sendAs(from: string, to: string, amountAtomic: bigint): Promise<void> {
  const { tokens, rpc } = harness.chain()
  const data = `0xa9059cbb${to.slice(2).padStart(64, '0')}${amountAtomic.toString(16).padStart(64, '0')}`
  await rpc('anvil_impersonateAccount', [from])
  await rpc('eth_sendTransaction', [{ from, to: tokens.USDC, data, gas: '0x30d40' }])
  await rpc('anvil_stopImpersonatingAccount', [from])
}
/** Replaces the block that holds this transaction, and all above it. */
async function reorgFrom(hash: string): Promise<void> {
  const { rpc, height, reorg } = harness.chain()
  const { blockNumber } = await rpc<{ blockNumber: string }>('eth_getTransactionReceipt', [hash])
  await reorg((await height()) - Number(blockNumber) + 1)
}

describe('property 9: the coins and the money of merchants', () => {
  it('differ, with an alarm, when a wallet is credited twice, and agree again once that is reverted', async () => {
    const world = await merchant()
    await fundMerchantWallet(world, 5n * unit)
    expect(await gapOf(world)).toBe(0n)
    const raised = countAlarm('money-differs')
    await forgeMoney(world, 5n * unit)
    expect(await gapOf(world)).toBe(-5n * unit)
    const alarms = () =>
      owner.all(
        sql`select currency, owed::int8, coins::int8, gap::int8 from money_gaps where entity_id = ${world.tenant.entityId}`,
      )
    await until(async () => (await alarms()).length > 0, 'the gap is found without being asked for')
    await until(() => raised() > 0, 'the alarm is raised')
    await forgeMoney(world, -5n * unit)
    expect(await gapOf(world)).toBe(0n)
    expect(await alarms()).toEqual([{ currency: 'USD', owed: 10_000_000, coins: 5_000_000, gap: -5_000_000 }])
  })

  it('differ when a payout is complete and its coins are still there', async () => {
    const world = await merchant()
    const { entityId } = world.tenant
    await fundMerchantWallet(world, 3n * unit)
    await freeze({ ...harness.ctx, actor: 'operator' }, { entityId })
    const { id } = await makePayout(world, { amount: usd('1') })
    expect(await gapOf(world)).toBe(0n)
    await forgeMoney(world, -unit)
    await harness.database.tx(async (tx) => {
      await resolveHolds(tx, harness.clock.nowMs(), [
        { entityId, intentId: id, purpose: 'money', outcome: 'posted' },
      ])
      await tx.run(sql`update payouts set status = 'complete' where id = ${id}`)
    })
    expect(await gapOf(world)).toBe(unit)
    await unfreeze({ ...harness.ctx, actor: 'operator' }, { entityId })
  })

  it("differ when coins are taken with the treasury's key, even one base unit", async () => {
    const world = await merchant()
    await fundMerchantWallet(world, 3n * unit)
    const { id } = await makePayout(world, { amount: usd('1') })
    await payoutEnded(world, id)
    expect(await gapOf(world)).toBe(0n)
    await sendAs((await treasuryOf(world)).address, freshAddress(), 1n)
    await followed()
    await until(async () => (await gapOf(world)) === -1n, 'the theft is found')
  })

  it('differ when a deposit is not credited, however old it is', async () => {
    const world = await merchant()
    const { depositAddress } = await makePaymentIntent(world)
    await harness.stopEngines()
    await harness.chain().send(depositAddress, 2n * unit, 'USDC')
    const height = await harness.chain().height()
    const indexer = startIndexer(harness.ctx)
    await until(async () => {
      const row = await harness.database.one<{ number: number }>(
        sql`select max(number) as number from blocks where canonical`,
      )
      return row.number >= height
    }, 'the block was read')
    await indexer.stop()
    // No engine follows yet: the arrived money is accounted for.
    expect(await gapOf(world)).toBe(0n)
    expect(await total()).toMatchObject({ arriving: 2n * unit })
    await owner.run(sql`update step_cursors c set step = (select max(step) from block_steps s where s.blockchain = c.blockchain)
      where engine = 'treasury'`)
    expect(await gapOf(world)).toBe(2n * unit)
    harness.startEngines()
    await harness.chain().mine(isDeep ? 20 : 4)
    expect(await gapOf(world)).toBe(2n * unit)
  })

  it('differ while a final deposit is not credited', async () => {
    const world = await merchant()
    await fundMerchantWallet(world, 2n * unit)
    await harness.stopEngines()
    const set = (status: string) =>
      owner.run(sql`update payments set status = ${status} where entity_id = ${world.tenant.entityId}`)
    await forgeMoney(world, -2n * unit)
    await set('pending')
    expect(await gapOf(world)).toBe(2n * unit)
    await set('paid')
    await forgeMoney(world, 2n * unit)
    harness.startEngines()
    expect(await gapOf(world)).toBe(0n)
  })
})

describe('the proof of money explains by name', () => {
  it('coins that an external sender sent to a treasury, until a reorg removes them', async () => {
    const world = await merchant()
    await fundMerchantWallet(world, 2n * unit)
    await payoutEnded(world, (await makePayout(world, { amount: usd('1') })).id)
    const { address } = await treasuryOf(world)
    const { unclaimed } = await total()
    const hash = await harness.chain().send(address, 7n, 'USDC')
    await followed()
    await until(async () => (await total()).unclaimed === unclaimed + 7n, 'the coins are accounted for')
    expect(await gapOf(world)).toBe(0n)
    await reorgFrom(hash)
    await followed()
    await until(async () => (await total()).unclaimed === unclaimed, 'they are gone')
    expect(await gapOf(world)).toBe(0n)
  })

  it('coins of a payout that return when a local chain is rewound, until they leave again', async () => {
    const world = await merchant()
    await fundMerchantWallet(world, 2n * unit)
    await payoutEnded(world, (await makePayout(world, { amount: usd('0.5') })).id)
    const { id } = await makePayout(world, { amount: usd('1') })
    await payoutEnded(world, id)
    await harness.chain().setAutomine(false)
    await reorgFrom((await world.call('GET', `/v1/payouts/${id}`)).externalRef)
    await until(async () => {
      expect(await gapOf(world)).toBe(0n)
      return (await world.call('GET', `/v1/payouts/${id}`)).status === 'pending'
    }, 'the payout is under way again')
    await until(async () => {
      // An empty block would only add work.
      const { pending } = await harness.chain().rpc<{ pending: string }>('txpool_status')
      if (Number(pending) > 0) await harness.chain().mine()
      expect(await gapOf(world)).toBe(0n)
      return (await world.call('GET', `/v1/payouts/${id}`)).status === 'complete'
    }, 'it left again')
    await harness.chain().setAutomine(true)
  })

  it('a payout to another merchant once, as a deposit of the receiver', async () => {
    const [one, other] = [await merchant(), await merchant()]
    await fundMerchantWallet(one, 3n * unit)
    const { depositAddress } = await makePaymentIntent(other)
    const recipient = await makeActiveRecipient(one, { address: depositAddress })
    const destination = { type: 'address_book', id: recipient.id }
    await payoutEnded(one, (await makePayout(one, { destination, amount: usd('2') })).id)
    await until(async () => {
      const { available } = await other.call('GET', '/v1/businessAccount/balances')
      return available[0]?.amount === '2.00'
    }, 'the other merchant is credited')
    expect([await gapOf(one), await gapOf(other)]).toEqual([0n, 0n])
  })
})
