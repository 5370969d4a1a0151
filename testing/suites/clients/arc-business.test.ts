/** The business account on a chain whose gas is paid with USDC: the coins of merchants and those for gas are one balance, and stay apart. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startEngines } from '#context'
import { reconcile } from '#engines/indexer/reconciliation/index'
import { InsufficientFunds, placeHolds, resolveHolds } from '#engines/ledger/holds/index'
import { allowRebalancingInSandbox } from '#engines/treasury/rebalancing/index'
import { proveMoney } from '#engines/treasury/reconciliation/index'
import { sql } from '#runtime/db/db'
import type { Intercept } from '#sandbox/chains/index'
import { checkLedger } from '#testing/builders/ledger-checks'
import { approveBatch, fileOf, uploadBatch } from '#testing/builders/payout-batches'
import {
  freshAddress,
  makeActiveAddress,
  makeActiveRecipient,
  makeBusinessTransfer,
  makePaidIntent,
  makePaymentIntent,
  type World,
  worldOf,
} from '#testing/builders/world'
import { withNativeLogs } from '#testing/nodes/native-logs'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'

const blockchain = 'ARC-TESTNET'
const usdcId = '15dc2b5d-0994-58b0-bf8c-3a0501148ee8'
const usdc = 10n ** 18n
/** A millionth, the smallest unit of money. */
const unit = 10n ** 12n
const usd = (amount: string) => ({ amount, currency: 'USD' })

// biome-ignore lint/suspicious/noExplicitAny: answers are examined member by member
type Shown = any

let harness: Harness
let engines: { stop(): Promise<void> }
beforeAll(async () => {
  harness = await openHarness({ blockchains: [blockchain, 'BASE-SEPOLIA'], engines: false })
  // No faucet gives gas here, as outside of a sandbox.
  engines = startEngines(harness.ctx)
})
afterAll(async () => {
  await engines?.stop()
  await harness?.close()
})
afterEach(async () => {
  await until(async () => (await proveMoney(harness.database)).gaps.length === 0, 'every coin is explained')
  const chain = harness.ctx.chains.find(blockchain)!
  expect((await reconcile(harness.ctx, chain)).gaps).toEqual([])
  await checkLedger(harness.database)
})

const balanceOf = async (address: string): Promise<bigint> =>
  BigInt(await harness.chain().rpc<string>('eth_getBalance', [address, 'latest']))
const available = async ({ call }: World): Promise<string> =>
  (await call('GET', '/v1/businessAccount/balances')).available[0]?.amount ?? '0.00'
const untilAvailable = (world: World, amount: string) =>
  until(async () => (await available(world)) === amount, `${amount} are available`)

/** A merchant of its own, whose treasury has so much USDC for gas. */
async function merchant(forGas: string) {
  const world = worldOf(harness, await harness.newEntity())
  const { entityId } = world.tenant
  const payoutOf = (id: string): Promise<Shown> => world.call('GET', `/v1/payouts/${id}`)
  const pay = async (amount: string, chain = 'ARC') => {
    const address = freshAddress()
    const recipient = await makeActiveRecipient(world, { chain, address })
    const { id } = await world.call('POST', '/v1/payouts', {
      idempotencyKey: randomUUID(),
      destination: { type: 'address_book', id: recipient.id },
      amount: usd(amount),
    })
    return { id: id as string, address }
  }
  const treasury = async () =>
    (
      await harness.database.one<{ address: string }>(
        sql`select address from treasuries where entity_id = ${entityId} and blockchain = ${blockchain}`,
      )
    ).address
  const gas = () =>
    harness.database.one<{ posted: bigint; held: bigint }>(sql`select a.posted, a.held from accounts a
      join treasuries t on t.entity_id = a.entity_id and t.address = a.address
      where a.entity_id = ${entityId} and t.blockchain = ${blockchain} and a.kind = 'unclaimed' and a.token_id = ${usdcId}`)
  const ended = async (id: string): Promise<Shown> => {
    let payout: Shown
    await until(async () => (payout = await payoutOf(id)).status !== 'pending', 'the payout has ended')
    return payout
  }
  const opened = async () => {
    // The first payout opens the treasury, and waits until it is funded.
    const first = await pay('0.01')
    await until(async () => (await payoutOf(first.id)).waitingFor?.reason === 'gas_missing', 'it lacks gas')
    await harness.fundWallet(await treasury(), { usdc: forGas, blockchain })
    expect(await ended(first.id)).toMatchObject({ status: 'complete' })
  }
  return { world, entityId, pay, payoutOf, ended, treasury, gas, opened }
}

describe('property 266: gas is paid with coins that no merchant owns', () => {
  it('a merchant gets a payment in full and pays all of it out; the operator bears the gas', async () => {
    const { world, pay, ended, treasury, gas, opened } = await merchant('2')
    await makePaidIntent(world, 10_010_000n, 'ARC')
    expect(await available(world)).toBe('10.01')
    await opened()
    const { id, address } = await pay('10')
    expect(await ended(id)).toMatchObject({ status: 'complete', fees: usd('0.00') })
    expect([await balanceOf(address), await available(world)]).toEqual([10n * usdc, '0.00'])
    const left = await gas()
    expect(left.posted).toBeLessThan(2n * usdc)
    // The treasury has what is left for gas, and nothing else.
    expect(await balanceOf(await treasury())).toBe(left.posted)
  })

  it('payouts wait with a reason while gas costs more than the coins for it, and the money of merchants is untouched', async () => {
    const { world, pay, payoutOf, ended, treasury, gas, opened } = await merchant('0.1')
    await makePaidIntent(world, 500_010_000n, 'ARC')
    await opened()
    await setBaseFee(1_000_000_000_000n)
    try {
      const cost = async () =>
        (await world.call('GET', '/operator/treasury')).treasuries.find(
          (each: Shown) => each.blockchain === blockchain,
        ).transactionCost
      await until(async () => Number(await cost()) > 0.2, 'the price is known')
      const before = await gas()
      const { id, address } = await pay('100')
      const waitingFor = async () => (await payoutOf(id)).waitingFor?.reason
      await until(async () => (await waitingFor()) === 'gas_missing', 'the payout says what it lacks')
      await harness.chain().mine(3)
      expect(await gas()).toEqual(before)
      expect(await balanceOf(address)).toBe(0n)
      expect(await available(world)).toBe('400.00')
      await harness.fundWallet(await treasury(), { usdc: '40', blockchain })
      expect(await ended(id)).toMatchObject({ status: 'complete' })
      expect(await balanceOf(address)).toBe(100n * usdc)
    } finally {
      await setBaseFee(1_000_000_000n)
    }
  })

  it('messages move the coins of merchants to Arc and from it, and none that are for gas', async () => {
    const { world, entityId, pay, ended, treasury, gas, opened } = await merchant('2')
    await makePaidIntent(world, 10_000n, 'ARC')
    await opened()
    await makePaidIntent(world, 10_000_000n)
    await allowRebalancingInSandbox(harness.database, entityId, harness.ctx.clock.nowMs())
    const { id } = await pay('4')
    const onBase = async () =>
      harness.database.maybe<{ address: string }>(
        sql`select address from treasuries where entity_id = ${entityId} and blockchain = 'BASE-SEPOLIA'`,
      )
    await until(async () => (await onBase()) !== undefined, 'the treasury on Base is opened')
    await harness.fundWallet((await onBase())!.address, { native: '1', blockchain: 'BASE-SEPOLIA' })
    expect(await ended(id)).toMatchObject({ status: 'complete' })
    expect(await balanceOf(await treasury())).toBe((await gas()).posted)
    await makePaidIntent(world, 6_000_000n, 'ARC')
    const back = await pay('8', 'BASE')
    expect(await ended(back.id)).toMatchObject({ status: 'complete' })
    const { posted, held } = await gas()
    expect([held, posted < 2n * usdc, await available(world)]).toEqual([0n, true, '4.00'])
    expect(await balanceOf(await treasury())).toBeGreaterThanOrEqual(posted)
  })

  it('the database refuses a hold for gas on the coins of merchants, and a payment with those for gas', async () => {
    const { world, entityId, treasury, pay, ended, gas, opened } = await merchant('1')
    await makePaidIntent(world, 50_010_000n, 'ARC')
    await opened()
    // More than is needed is swept, where one address had it.
    expect(await ended((await pay('20')).id)).toMatchObject({ status: 'complete' })
    const account = { entityId, blockchain, tokenId: usdcId, address: await treasury() }
    const own = await balanceOf(account.address)
    const { posted: forGas } = await gas()
    expect(own).toBe(30n * usdc + forGas)
    const attempt = async (purpose: 'fee' | 'gas' | 'amount', amountAtomic: bigint) => {
      const intentId = randomUUID()
      const nowMs = harness.ctx.clock.nowMs()
      await harness.database.tx((tx) =>
        placeHolds(tx, nowMs, [{ ...account, intentId, purpose, amountAtomic }]),
      )
      await checkLedger(harness.database)
      await harness.database.tx((tx) => resolveHolds(tx, nowMs, [{ entityId, intentId, outcome: 'voided' }]))
    }
    await expect(attempt('fee', forGas + 1n)).rejects.toThrow(InsufficientFunds)
    await expect(attempt('gas', forGas + 1n)).rejects.toThrow(InsufficientFunds)
    await expect(attempt('amount', 30n * usdc + 1n)).rejects.toThrow(InsufficientFunds)
    await attempt('fee', forGas)
    await attempt('gas', forGas)
    await attempt('amount', 30n * usdc)
  })
})

describe('property 267: deposits of a stablecoin that pays for gas', () => {
  it('count once in each form, and what is below a millionth is no money', async () => {
    const { world, pay, ended, opened } = await merchant('1')
    const intent = await makePaymentIntent(world, 'ARC')
    await harness.fundWallet(intent.depositAddress, { usdc: '1.5', blockchain })
    await harness.fundWallet(intent.depositAddress, { native: '2.0000014', blockchain })
    await harness.fundWallet(intent.depositAddress, { native: '0.0000006', blockchain })
    await untilAvailable(world, '3.500001')
    const { amountPaid } = await world.call('GET', `/v1/paymentIntents/${intent.id}`)
    expect(amountPaid.amount).toBe('3.500001')
    await opened()
    const { id, address } = await pay('3.49')
    expect(await ended(id)).toMatchObject({ status: 'complete' })
    expect([await balanceOf(address), await available(world)]).toEqual([3_490_000n * unit, '0.000001'])
    // The sweep leaves the dust, which adds up to a millionth here.
    expect(await balanceOf(intent.depositAddress)).toBe(unit)
  })

  it('come by deposit addresses and payment pages, and leave by files of payouts and transfers', async () => {
    const { world, treasury, opened } = await merchant('1')
    const made = await world.call('POST', '/v1/businessAccount/wallets/addresses/deposit', {
      idempotencyKey: randomUUID(),
      chain: 'ARC',
      currency: 'USD',
    })
    await harness.fundWallet(made.address, { native: '5', blockchain })
    await untilAvailable(world, '5.00')
    const intent = await world.call('POST', '/v1/paymentIntents', {
      idempotencyKey: randomUUID(),
      type: 'transient',
      amount: usd('2.50'),
      settlementCurrency: 'USD',
      paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
    })
    const page = await world.call('PUT', `/v1/paymentIntents/${intent.id}/page`, {
      merchantName: 'Corner Books',
      chains: ['ARC'],
    })
    const token = new URL(page.url).pathname.split('/').at(-1)
    const shown = await httpAs(harness.url, undefined)('GET', `/page/payments/${token}`)
    const onArc = shown.body.data.paymentMethods.find(({ chain }: Shown) => chain === 'ARC')
    expect(onArc.paymentUri).toMatch(
      /^ethereum:0x3600000000000000000000000000000000000000@5042002\/transfer\?.*=2500000/,
    )
    await harness.fundWallet(onArc.address, { native: '2.5', blockchain })
    await untilAvailable(world, '7.50')
    const { balances } = await world.call('GET', '/operator/overview')
    const counted = balances.map(({ currency, amount, byBlockchain }: Shown) => [
      currency,
      Number(amount),
      byBlockchain.map((each: Shown) => [each.blockchain, Number(each.amount)]),
    ])
    expect(counted).toEqual([['USD', 7.5, [[blockchain, 7.5]]]])
    await opened()
    const recipient = await makeActiveRecipient(world, { chain: 'ARC', address: freshAddress() })
    const own = await makeActiveAddress(world, { chain: 'ARC', address: freshAddress() })
    await approveBatch(
      world,
      await uploadBatch(world, fileOf('recipient,amount,currency', `${recipient.id},4,USD`)),
    )
    await makeBusinessTransfer(world, {
      destination: { type: 'verified_blockchain', addressId: own.id },
      amount: usd('3.49'),
    })
    await until(async () => (await balanceOf(recipient.address)) === 4n * usdc, 'the row is paid')
    await until(async () => (await balanceOf(own.address)) === 3_490_000n * unit, 'the transfer is made')
    await until(async () => (await available(world)) === '0.00', 'all is paid')
    expect(await balanceOf(await treasury())).toBeLessThan(usdc)
  })
})

describe('property 266: a node that writes a log for each movement, and loses the answers to half of what it is sent', () => {
  let sent = 0
  const losing: Intercept = async (call) => {
    if (!call.body.includes('eth_sendRawTransaction')) return withNativeLogs(call)
    if (sent++ % 2 === 1) return 'forward'
    await call.forward(call.body)
    return 'drop'
  }
  beforeAll(() => harness.chain().intercept(losing))
  afterAll(() => harness.chain().intercept(undefined))

  it('has deposits in both forms, sweeps and payouts counted once, and no gas of merchants', async () => {
    const { world, pay, ended, treasury, gas, opened } = await merchant('2')
    const intent = await makePaidIntent(world, 10_010_000n, 'ARC')
    await harness.fundWallet(intent.depositAddress, { native: '2.5', blockchain })
    await untilAvailable(world, '12.51')
    await opened()
    const payouts = [await pay('10'), await pay('2.5')]
    for (const { id } of payouts) expect(await ended(id)).toMatchObject({ status: 'complete' })
    expect(await Promise.all(payouts.map(({ address }) => balanceOf(address)))).toEqual([
      10n * usdc,
      (5n * usdc) / 2n,
    ])
    expect(await available(world)).toBe('0.00')
    const { posted } = await gas()
    expect([posted < 2n * usdc, await balanceOf(await treasury())]).toEqual([true, posted])
  })
})

const setBaseFee = async (wei: bigint) => {
  await harness.chain().rpc('anvil_setNextBlockBaseFeePerGas', [`0x${wei.toString(16)}`])
  await harness.chain().mine(1)
}
