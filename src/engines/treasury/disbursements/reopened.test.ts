import { afterAll, beforeAll, expect } from 'vitest'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import {
  freshAddress,
  fundMerchantWallet,
  makeActiveRecipient,
  makePaidIntent,
  makePayout,
  type World,
  worldOf,
} from '#testing/builders/world'
import { sendAsIssuer } from '#testing/nodes/issuer'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { drawnTests } from '#testing/runner/drawn'

/** On a local chain one block makes final, and a reorg nevertheless reverts final blocks. */
let harness: Harness
let world: World
beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  await fundMerchantWallet(world, 10_000_000n)
  // The treasury has the coins from here on.
  await completed((await makePayout(world, { amount: usd('1') })).id)
})
afterAll(() => harness.close())

// biome-ignore lint/suspicious/noExplicitAny: answers are examined member by member
type Shown = any

const usd = (amount: string) => ({ amount, currency: 'USD' })
const payoutOf = (id: string): Promise<Shown> => world.call('GET', `/v1/payouts/${id}`)
const standsAt = (id: string, status: string) =>
  until(async () => (await payoutOf(id)).status === status, `the payout is ${status}`)
const completed = (id: string) => standsAt(id, 'complete')
const available = async () =>
  (await world.call('GET', '/v1/businessAccount/balances')).available[0]?.amount as string
const coinsOf = (address: string) => harness.chain().oracle.balanceOf(address, harness.chain().tokens.USDC)

/** Waits until the node has these bytes in its pool, possibly again. */
const inPool = (hash: string) =>
  until(async () => {
    const found = await harness
      .chain()
      .rpc<{ blockNumber: string | null } | null>('eth_getTransactionByHash', [hash])
    return found !== null && found.blockNumber === null
  }, 'the node has the payment in its pool')

async function sentTo(address: string): Promise<{ id: string; hash: string }> {
  const recipient = await makeActiveRecipient(world, { address })
  const destination = { type: 'address_book', id: recipient.id }
  const { id } = await makePayout(world, { destination, amount: usd('2') })
  await until(async () => (await payoutOf(id)).externalRef !== undefined, 'the payout is sent')
  const { externalRef: hash } = await payoutOf(id)
  await inPool(hash)
  return { id, hash }
}

const drawnIt = drawnTests(3, 5)

drawnIt(
  'a complete payout whose transaction reverts after a reorg fails, and its money is available again',
  async () => {
    const { setAutomine, mine, reorg } = harness.chain()
    const before = await available()
    const payee = freshAddress()
    await setAutomine(false)
    const { id, hash } = await sentTo(payee)
    await mine()
    await completed(id)
    expect(await available()).not.toBe(before)
    await reorg(1)
    await standsAt(id, 'pending')
    await inPool(hash)
    await sendAsIssuer(harness.chain(), 'blocklist', payee)
    await mine()
    await standsAt(id, 'failed')
    expect(await payoutOf(id)).toMatchObject({ errorCode: 'transaction_failed', externalRef: hash })
    await setAutomine(true)
    expect(await available()).toBe(before)
    expect(await coinsOf(payee)).toBe(0n)
    await checkLedger(harness.database)
  },
)

drawnIt(
  'a failed payout whose transaction succeeds after a reorg is complete, and its money is gone',
  async () => {
    const { setAutomine, mine, reorg } = harness.chain()
    const before = Number(await available())
    const payee = freshAddress()
    await setAutomine(false)
    const { id, hash } = await sentTo(payee)
    await sendAsIssuer(harness.chain(), 'blocklist', payee)
    await mine()
    await standsAt(id, 'failed')
    await reorg(1)
    await standsAt(id, 'pending')
    await inPool(hash)
    await mine()
    await completed(id)
    await setAutomine(true)
    expect((await payoutOf(id)).errorCode).toBeUndefined()
    expect(Number(await available())).toBe(before - 2)
    expect(await coinsOf(payee)).toBe(2_000_000n)
    await checkLedger(harness.database)
  },
)

drawnIt('a complete refund whose transaction reverts after a reorg can be made again', async () => {
  const { setAutomine, mine, reorg } = harness.chain()
  const intent = await makePaidIntent(world, 3_000_000n)
  const address = freshAddress()
  const refund = () =>
    world.call('POST', `/v1/paymentIntents/${intent.id}/refund`, {
      idempotencyKey: crypto.randomUUID(),
      destination: { address, chain: 'BASE' },
      amount: { currency: 'USD' },
      toAmount: usd('3'),
    })
  const paymentOf = (id: string): Promise<Shown> => world.call('GET', `/v1/payments/${id}`)
  const refundIs = (id: string, status: string) =>
    until(async () => (await paymentOf(id)).status === status, `the refund is ${status}`)
  await setAutomine(false)
  const { id } = await refund()
  await until(async () => (await paymentOf(id)).transactionHash !== undefined, 'the refund is sent')
  const { transactionHash } = await paymentOf(id)
  await inPool(transactionHash)
  await mine()
  await refundIs(id, 'paid')
  await reorg(1)
  await refundIs(id, 'pending')
  await inPool(transactionHash)
  await sendAsIssuer(harness.chain(), 'blocklist', address)
  await mine()
  await refundIs(id, 'failed')
  await setAutomine(true)
  await sendAsIssuer(harness.chain(), 'unblocklist', address)
  await refundIs((await refund()).id, 'paid')
  const { amountRefunded } = await world.call('GET', `/v1/paymentIntents/${intent.id}`)
  expect(amountRefunded).toEqual(usd('3.00'))
  expect(await coinsOf(address)).toBe(3_000_000n)
  await checkLedger(harness.database)
})

drawnIt(
  'a sweep of a deposit that is mined again after a reorg does not keep later deposits from being swept',
  async () => {
    const { setAutomine, mine, reorg, height, send, rpc, outsider, tokens } = harness.chain()
    const other = worldOf(harness, await harness.newEntity())
    const isComplete = (id: string) =>
      until(
        async () => (await other.call('GET', `/v1/payouts/${id}`)).status === 'complete',
        'it is complete',
      )
    // Its treasury has its gas before the reverted blocks.
    await fundMerchantWallet(other, 1_000_000n)
    await isComplete((await makePayout(other, { amount: usd('1') })).id)
    const { depositAddress } = await makePaidIntent(other, 5_000_000n)
    const paidAt = await height()
    const first = await makePayout(other, { amount: usd('5') })
    await isComplete(first.id)
    const sweeps = async () =>
      (
        await harness.database.all<{ hash: string }>(sql`select t.tx_hash as hash from sweeps s
        join platform_transactions t on t.entity_id = s.entity_id and t.id = s.id
        where s.from_address = ${depositAddress} order by s.create_date`)
      ).map(({ hash }) => hash)
    const [swept] = await sweeps()
    await setAutomine(false)
    await reorg((await height()) - paidAt + 1)
    // The payer pays again, first in its block, and the sweep and the payout are broadcast again.
    const data = `0xa9059cbb${depositAddress.slice(2).padStart(64, '0')}${(5_000_000).toString(16).padStart(64, '0')}`
    const fees = { gas: '0x30d40', maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0x174876e800' }
    await rpc('eth_sendTransaction', [{ from: outsider, to: tokens.USDC, data, ...fees }])
    await inPool(swept!)
    await mine()
    await setAutomine(true)
    await isComplete(first.id)
    await until(
      async () => (await other.call('GET', '/v1/payments')).length === 3,
      'the payment that came again is seen',
    )
    await send(depositAddress, 2_000_000n, 'USDC')
    const { id } = await makeFundedPayout(other, '2')
    await isComplete(id)
    expect(await sweeps()).toHaveLength(2)
    await checkLedger(harness.database)
  },
)

drawnIt(
  'a sweep and a payout of a deposit that a reorg removes for good fail, and no merchant owes anything',
  async () => {
    const { mine, reorg, height, send, oracle } = harness.chain()
    const other = worldOf(harness, await harness.newEntity())
    const balance = async () => (await other.call('GET', '/v1/businessAccount/balances')).available
    const payoutIs = (id: string, status: string) =>
      until(async () => (await other.call('GET', `/v1/payouts/${id}`)).status === status, `it is ${status}`)
    await fundMerchantWallet(other, 1_000_000n)
    await payoutIs((await makePayout(other, { amount: usd('1') })).id, 'complete')
    const { id: intentId, depositAddress } = await makePaidIntent(other, 5_000_000n)
    const paidAt = await height()
    const address = freshAddress()
    const recipient = await makeActiveRecipient(other, { address })
    const destination = { type: 'address_book', id: recipient.id }
    const { id } = await makePayout(other, { destination, amount: usd('5') })
    await payoutIs(id, 'complete')
    await reorg((await height()) - paidAt + 1)
    await payoutIs(id, 'failed')
    await mine(15)
    const paymentsAre = (statuses: string[]) =>
      until(async () => {
        const found: { status: string }[] = await other.call(
          'GET',
          `/v1/payments?paymentIntentId=${intentId}`,
        )
        return found.map(({ status }) => status).join() === statuses.join()
      }, `its payments are ${statuses}`)
    await paymentsAre(['failed'])
    expect(await balance()).toEqual([usd('0.00')])
    await send(depositAddress, 5_000_000n, 'USDC')
    await paymentsAre(['paid', 'failed'])
    const again = await makePayout(other, { destination, amount: usd('5') })
    await payoutIs(again.id, 'complete')
    expect(await oracle.transfers({ to: address })).toHaveLength(1)
    expect(await balance()).toEqual([usd('0.00')])
    await checkLedger(harness.database)
  },
)

/** Makes a payout as soon as the wallet has the money for it. */
async function makeFundedPayout(of: World, amount: string): Promise<{ id: string }> {
  await until(async () => {
    const { available: owned } = await of.call('GET', '/v1/businessAccount/balances')
    return Number(owned[0]?.amount) >= Number(amount)
  }, 'the money is there')
  return makePayout(of, { amount: usd(amount) })
}
