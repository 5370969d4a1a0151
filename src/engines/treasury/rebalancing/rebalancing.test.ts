/** Payouts on Base from coins on Ethereum, through the API, the command of operators and real contracts. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { placeHolds } from '#engines/ledger/holds/index'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import { rebalancingsOf } from '#testing/builders/rebalancings'
import {
  freshAddress,
  fundMerchantWallet,
  makeActiveRecipient,
  type World,
  worldOf,
} from '#testing/builders/world'
import { sendAsIssuer } from '#testing/nodes/issuer'
import { countAlarm } from '#testing/platform/count-alarm'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import type { Coins } from '../sweeping/store.ts'
import { coinsAt, shortageOf } from './open-rebalancing.ts'

const unit = 1_000_000n

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
})
afterAll(() => harness?.close())

/** A merchant with coins on Ethereum alone. */
async function merchant(coins: bigint): Promise<{ world: World } & ReturnType<typeof rebalancingsOf>> {
  const world = worldOf(harness, await harness.newEntity())
  await fundMerchantWallet(world, coins, 'ETH')
  return { world, ...rebalancingsOf(world) }
}

it('the command shows, allows and forbids, and says what is wrong', async () => {
  const { command } = await merchant(unit)
  expect((await command('show')).stdout).toMatch(/allowed +no\n/)
  expect((await command('allow')).stderr).toContain('--max is missing')
  expect((await command('allow', '--max', '0')).code).toBe(2)
  expect((await command('allow', '--max', '1,5')).stderr).toContain('must be an amount such as')
  expect((await command('allow', '--max', '10.5', '--reserve', '2')).stdout).toMatch(
    /allowed +yes\nmax +10.5\nreserve +2\n/,
  )
  expect((await command('forbid')).stdout).toMatch(/allowed +no\n/)
  expect((await command('list')).code).toBe(0)
})

it('property 95: a payout short on its chain is paid with coins of another, and every coin is explained', async () => {
  const { base, ethereum, ...own } = await merchant(10n * unit)
  await own.allow()
  const { id, address } = await own.pay('4')
  expect(await own.ended(id)).toMatchObject({ status: 'complete' })
  expect(await own.usdcOf(base, address)).toBe(4n * unit)
  await own.allArrived()
  expect(await own.rows()).toMatchObject([{ status: 'complete', amount: 4n * unit, reopened: false }])
  // The treasury on Ethereum swept ten and burned four; that on Base got four and paid four.
  expect([await own.treasuryCoins(ethereum), await own.treasuryCoins(base)]).toEqual([6n * unit, 0n])
  const [listed] = (await own.command('list', '--json')).stdout.trim().split('\n')
  expect(JSON.parse(listed!)).toMatchObject({ amount: '4', from: 'ETH-SEPOLIA', to: 'BASE-SEPOLIA' })
  await checkLedger(harness.database)
})

it('property 95: a message moves no more than the policy allows, and payouts at once share what is moved', async () => {
  const { base, ...own } = await merchant(10n * unit)
  await own.allow('3')
  const payouts = await Promise.all([own.pay('3'), own.pay('1.5'), own.pay('0.5')])
  for (const { id } of payouts) expect(await own.ended(id)).toMatchObject({ status: 'complete' })
  for (const [index, amount] of [3_000_000n, 1_500_000n, 500_000n].entries())
    expect(await own.usdcOf(base, payouts[index]!.address)).toBe(amount)
  await own.allArrived()
  const moved = await own.rows()
  const sum = moved.reduce((total, { amount }) => total + amount, 0n)
  expect([sum, moved.every(({ amount, status }) => amount <= 3n * unit && status === 'complete')]).toEqual([
    5n * unit,
    true,
  ])
})

it('property 95: a policy that allows less meanwhile holds for a burn that is not recorded yet', async () => {
  const { base, ethereum, ...own } = await merchant(10n * unit)
  await own.allow('4')
  await ethereum.setAutomine(false)
  const { id, address } = await own.pay('4')
  await until(async () => {
    const status = (await own.rows()).at(-1)?.status
    if (status !== 'approving') await ethereum.mine()
    return status === 'approving'
  }, 'the allowance is recorded')
  await own.allow('2')
  await ethereum.setAutomine(true)
  await ethereum.mine()
  expect(await own.ended(id)).toMatchObject({ status: 'complete' })
  expect(await own.usdcOf(base, address)).toBe(4n * unit)
  await own.allArrived()
  const refused = { status: 'failed', errorReason: 'the policy of the entity no longer allows it' }
  const moved = { status: 'complete', amount: 2n * unit }
  expect(await own.rows()).toMatchObject([refused, moved, moved])
})

it('a payout fails as ever where the reserve would be touched, or without a policy', async () => {
  const own = await merchant(5n * unit)
  await own.allow('1000', '2')
  const { id } = await own.pay('4')
  const other = await merchant(5n * unit)
  const unallowed = await other.pay('4')
  // Payouts that can be paid are paid beside them.
  await fundMerchantWallet(other.world, unit)
  const paid = await other.pay('1')
  expect(await other.ended(paid.id)).toMatchObject({ status: 'complete' })
  harness.clock.moveMs(86_401_000)
  for (const ended of [await own.ended(id), await other.ended(unallowed.id)])
    expect(ended).toMatchObject({ status: 'failed', errorCode: 'insufficient_funds' })
  expect([await own.rows(), await other.rows()]).toEqual([[], []])
})

it('property 95: without an attester nothing is burned, and what is burned before it is gone is explained and minted later', async () => {
  const { base, ethereum, ...own } = await merchant(10n * unit)
  await own.allow()
  await own.setAttester(false)
  const { id, address } = await own.pay('4')
  await until(async () => {
    return (await own.treasuryOf('BASE-SEPOLIA').catch(() => '')) !== ''
  }, 'a worker has looked at it')
  expect(await own.rows()).toEqual([])
  await own.setAttester(true)
  await ethereum.setAutomine(false)
  const isBurning = async () => (await own.rows()).at(-1)?.status === 'burning'
  await until(async () => {
    // A block with the burn would have it attested before the attester is gone.
    if (await isBurning()) return true
    await ethereum.mine()
    return isBurning()
  }, 'the burn is recorded')
  await own.setAttester(false)
  await ethereum.setAutomine(true)
  await until(async () => {
    await ethereum.mine()
    return (await own.moneyOf()).moving === 4n * unit
  }, 'the coins are burned')
  const reconciled = await own.run('reconcile', '--json')
  expect([reconciled.code, JSON.parse(reconciled.stdout)]).toMatchObject([
    0,
    { gaps: 0, merchants: { totals: [{ currency: 'USD', moving: '4' }] } },
  ])
  // The payout waits for coins that are on their way, however long that takes.
  harness.clock.moveMs(86_401_000)
  await until(
    async () => (await own.payoutOf(id)).waitingFor?.reason === 'coins_moving',
    'it waits for its coins',
  )
  await own.setAttester(true)
  expect(await own.ended(id)).toMatchObject({ status: 'complete' })
  expect(await own.usdcOf(base, address)).toBe(4n * unit)
  await own.allArrived()
  expect(await own.rows()).toHaveLength(1)
  await checkLedger(harness.database)
})

it('property 95: a burn that the token refuses fails with its reason, and a mint that it refuses is tried again', async () => {
  const { base, ethereum, ...own } = await merchant(10n * unit)
  await own.allow()
  const [failed, stuck] = [countAlarm('rebalancing-failed'), countAlarm('rebalancing-stuck')]
  await sendAsIssuer(base, 'pause')
  const { id, address } = await own.pay('4')
  await own.reaches('minting')
  await until(async () => {
    const row = await harness.database.maybe(
      sql`select 1 from transactions t join rebalancings r on r.entity_id = t.entity_id
        and t.ref_id = 'rebalancing ' || r.id and t.blockchain = r.blockchain and t.state = 'FAILED'
        where r.entity_id = ${own.world.tenant.entityId}`,
    )
    return row !== undefined
  }, 'a mint has failed')
  expect((await own.moneyOf()).gaps).toEqual([])
  await until(() => stuck() > 0, 'the alarm is raised')
  await sendAsIssuer(base, 'unpause')
  expect(await own.ended(id)).toMatchObject({ status: 'complete' })
  expect(await own.usdcOf(base, address)).toBe(4n * unit)
  await own.allArrived()

  await sendAsIssuer(ethereum, 'blocklist', await own.treasuryOf('ETH-SEPOLIA'))
  const refused = await own.pay('3')
  await own.reaches('failed')
  expect((await own.rows()).at(-1)?.errorReason).toMatch(/\w/)
  await until(() => failed() > 0, 'the alarm is raised')
  await sendAsIssuer(ethereum, 'unblocklist', await own.treasuryOf('ETH-SEPOLIA'))
  expect(await own.ended(refused.id)).toMatchObject({ status: 'complete' })
  await own.allArrived()
  await checkLedger(harness.database)
})

it('property 95: nothing begins for a halted chain, whose payouts wait, and payouts on the other are paid', async () => {
  const { base, ...own } = await merchant(10n * unit)
  await own.allow()
  await harness.database.run(sql`insert into chain_halts (blockchain, block_number, block_hash, other_hash, create_date)
    values ('BASE-SEPOLIA', 1, '0x1', '0x2', now())`)
  const recipient = await makeActiveRecipient(own.world, { chain: 'ETH', address: freshAddress() })
  const { id, address } = await own.pay('4')
  const elsewhere = await own.world.call('POST', '/v1/payouts', {
    idempotencyKey: randomUUID(),
    destination: { type: 'address_book', id: recipient.id },
    amount: { amount: '3', currency: 'USD' },
  })
  expect(await own.ended(elsewhere.id)).toMatchObject({ status: 'complete' })
  expect([(await own.payoutOf(id)).status, await own.rows()]).toEqual(['pending', []])
  await harness.database.run(sql`delete from chain_halts`)
  expect(await own.ended(id)).toMatchObject({ status: 'complete' })
  expect(await own.usdcOf(base, address)).toBe(4n * unit)
  await own.allArrived()
})

it('property 95: what another worker pays while a shortage is computed makes none', async () => {
  const own = await merchant(unit)
  const { database, ctx } = harness
  await fundMerchantWallet(own.world, 4n * unit)
  const { id } = await own.pay('1')
  expect(await own.ended(id)).toMatchObject({ status: 'complete' })
  const coins = await database.one<Coins>(sql`select entity_id, blockchain, token_id
    from payouts where id = ${id}`)
  await until(async () => (await database.tx((tx) => coinsAt(tx, coins))) === 3n * unit, 'three are left')
  const address = await own.treasuryOf('BASE-SEPOLIA')
  const hold = {
    ...coins,
    address,
    intentId: randomUUID(),
    purpose: 'amount',
    amountAtomic: 3n * unit,
  } as const
  const short = await database.tx((tx) =>
    shortageOf(tx, coins, async () => {
      await database.tx((other) => placeHolds(other, ctx.clock.nowMs(), [hold]))
      return 3n * unit
    }),
  )
  expect(short).toBe(0n)
})
