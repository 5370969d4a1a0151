import { randomUUID } from 'node:crypto'
import { Circle } from '@circle-fin/circle-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkLedger } from '#testing/builders/ledger-checks'
import { freshAddress, makePaidIntent, makePaymentIntent, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { isDeep } from '#testing/runner/size'

let harness: Harness
let world: World
let circle: Circle
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  world = worldOf(harness)
  circle = new Circle(harness.apiKey, harness.url)
})
afterAll(() => harness.close())

// biome-ignore lint/suspicious/noExplicitAny: answers are examined member by member
type Shown = any

const intentOf = (id: string): Promise<Shown> => world.call('GET', `/v1/paymentIntents/${id}`)
const refundBody = (amount: string, address: string, changes: object = {}) => ({
  idempotencyKey: randomUUID(),
  destination: { address, chain: 'BASE', addressTag: '' },
  amount: { currency: 'USD' },
  toAmount: { amount, currency: 'USD' },
  ...changes,
})
const ask = (id: string, body: object) => harness.http('POST', `/v1/paymentIntents/${id}/refund`, { body })
const ended = async (id: string): Promise<Shown> => {
  let payment: Shown
  await until(async () => {
    payment = await world.call('GET', `/v1/payments/${id}`)
    return payment.status !== 'pending'
  }, 'the refund has ended')
  return payment
}
const usdcOf = (address: string) => harness.chain().oracle.balanceOf(address, harness.chain().tokens.USDC)
const available = async () => (await world.call('GET', '/v1/businessAccount/balances')).available[0]?.amount

describe('a refund', () => {
  it('is paid on chain through the published client and listed as a payment of its intent', async () => {
    const intent = await makePaidIntent(world, 5_000_000n)
    const payer = freshAddress()
    const before = Number(await available())
    const body = refundBody('2.5', payer)
    const created: Shown = (await circle.cryptoPaymentIntents.refundPaymentIntent(intent.id, body as never))
      .data.data
    expect(created).toMatchObject({
      type: 'refund',
      status: 'pending',
      amount: { amount: '2.50', currency: 'USD' },
      paymentIntentId: intent.id,
      depositAddress: { chain: 'BASE', address: payer },
    })
    const refund = await ended(created.id)
    expect(refund.status).toBe('paid')
    expect(await usdcOf(payer)).toBe(2_500_000n)
    const [moved] = await harness.chain().oracle.transfers({ to: payer })
    expect(moved!.txHash).toBe(refund.transactionHash)
    expect(Number(await available())).toBe(before - 2.5)
    const shown = await intentOf(intent.id)
    expect(shown).toMatchObject({ amountPaid: { amount: '5.00' }, amountRefunded: { amount: '2.50' } })
    expect(shown.timeline[0].status).toBe('refunded')
    const again = await ask(intent.id, body)
    expect([again.status, again.body.data]).toEqual([201, refund])
    const listed = await world.call('GET', `/v1/payments?paymentIntentId=${intent.id}`)
    expect(listed.map(({ type }: Shown) => type).sort()).toEqual(['payment', 'refund'])
    await checkLedger(harness.database)
  })

  it('cannot exceed the paid amount, also for concurrent requests', async () => {
    const { id } = await makePaidIntent(world, 3_000_000n)
    const payers = Array.from({ length: isDeep ? 10 : 6 }, freshAddress)
    const answers = await Promise.all(payers.map((payer) => ask(id, refundBody('1', payer))))
    const accepted = answers.filter(({ status }) => status === 201)
    expect(accepted).toHaveLength(3)
    for (const { body } of answers.filter(({ status }) => status !== 201)) expect([body.code]).toEqual([1087])
    for (const { body } of accepted) expect((await ended(body.data.id)).status).toBe('paid')
    const sums = await Promise.all(payers.map(usdcOf))
    expect(sums.reduce((sum, each) => sum + each, 0n)).toBe(3_000_000n)
    expect((await intentOf(id)).amountRefunded.amount).toBe('3.00')
  })

  it('fails without coins on its chain, and its amount can be refunded again', async () => {
    const { id } = await makePaidIntent(world, 3_000_000n)
    const payer = freshAddress()
    const before = await available()
    const asked = await ask(id, refundBody('3', payer, { destination: { address: payer, chain: 'ETH' } }))
    expect([asked.status, (await intentOf(id)).amountRefunded.amount]).toEqual([201, '3.00'])
    const refund: Shown = () => world.call('GET', `/v1/payments/${asked.body.data.id}`)
    await until(async () => (await refund()).waitingFor, 'the refund says what it waits for')
    harness.clock.moveMs(86_401_000)
    await until(async () => (await refund()).status === 'failed', 'the refund has failed')
    expect((await intentOf(id)).amountRefunded.amount).toBe('0.00')
    expect(await available()).toBe(before)
    const again = await ask(id, refundBody('3', payer))
    expect((await ended(again.body.data.id)).status).toBe('paid')
    expect(await usdcOf(payer)).toBe(3_000_000n)
    await checkLedger(harness.database)
  })

  it.each([
    ['toAmount.amount', { toAmount: { amount: '0', currency: 'USD' } }, 1077],
    ['toAmount.amount', { toAmount: { amount: '1.0000001', currency: 'USD' } }, 2],
    ['toAmount.currency', { toAmount: { amount: '1', currency: 'EUR' } }, 2],
    ['amount.currency', { amount: { currency: 'BTC' } }, 2],
    ['destination.address', { destination: { address: 'me', chain: 'BASE' } }, 5014],
    ['destination', { destination: { address: `r${'1'.repeat(33)}`, chain: 'FLOW' } }, 2],
    ['destination', undefined, 2],
  ])('names an invalid %s: %o', async (location, changes, code) => {
    const { id } = await world.paidIntent()
    const body = refundBody('1', freshAddress(), changes ?? { destination: undefined })
    const answer = await ask(id, body)
    expect([answer.status, answer.body.code]).toEqual([400, code])
    expect(answer.body.errors[0].location).toContain(location)
  })

  it('is refused before the first payment', async () => {
    const { id } = await makePaymentIntent(world)
    const early = await ask(id, refundBody('1', freshAddress()))
    expect([early.status, early.body.code]).toEqual([400, 1085])
    expect((await intentOf(id)).timeline[0].status).toBe('active')
  })

  it("answers 404 for another tenant's intent", async () => {
    const { id } = await world.paidIntent()
    const other = await harness.newEntity()
    const answer = await other.http('POST', `/v1/paymentIntents/${id}/refund`, {
      body: refundBody('1', freshAddress()),
    })
    expect([answer.status, answer.body.code]).toEqual([404, 404])
  })

  it('is refused when the intent is older than 30 days', async () => {
    const { id } = await world.paidIntent()
    harness.clock.moveMs(31 * 24 * 3_600_000)
    const late = await ask(id, refundBody('1', freshAddress()))
    expect([late.status, late.body.code, late.body.message]).toEqual([
      400,
      1085,
      expect.stringContaining('30 days'),
    ])
  })
})
