import { randomUUID } from 'node:crypto'
import { Circle, type PaymentIntentCreationRequest } from '@circle-fin/circle-sdk'
import { createWalletClient, http, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '#lib/hex'
import { compileResponse } from '#runtime/http/validate'
import { worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { viemChain } from '#testing/platform/viem-chain'
import { parseLinkHeader } from '#testing/requests/link-header'
import { paymentSchema } from './schema.ts'

let harness: Harness
let circle: Circle
beforeAll(async () => {
  harness = await openHarness()
  circle = new Circle(harness.apiKey, harness.url)
})
afterAll(() => harness.close())

const hasShape = compileResponse(paymentSchema)
const idsOf = ({ data }: { data: { data?: unknown } }) =>
  (data.data as { id: string }[]).map((payment) => payment.id)

const openIntent = async () => {
  const body = {
    idempotencyKey: randomUUID(),
    currency: 'USD',
    settlementCurrency: 'USD',
    type: 'continuous',
    paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
  } as unknown as PaymentIntentCreationRequest
  const { data } = await circle.cryptoPaymentIntents.createPaymentIntent(body)
  const intent = data.data as unknown as { id: string; paymentMethods: { address: `0x${string}` }[] }
  return { id: intent.id, address: intent.paymentMethods[0]!.address }
}

/** A separate payer: a fresh key, with coins from the faucet. */
async function openPayer() {
  const account = privateKeyToAccount(generatePrivateKey())
  const body = { address: account.address, blockchain: 'BASE-SEPOLIA', native: true, usdc: true }
  expect((await harness.http('POST', '/v1/faucet/drips', { body })).status).toBe(204)
  const { rpcUrl, tokens, oracle } = harness.chain()
  // The faucet answers before its coins are in a block.
  const isFunded = async () =>
    (await oracle.balanceOf(account.address)) > 0n &&
    (await oracle.balanceOf(account.address, tokens.USDC)) > 0n
  await until(isFunded, 'the payer has its coins')
  const wallet = createWalletClient({ account, chain: viemChain, transport: http(rpcUrl) })
  const abi = parseAbi(['function transfer(address to, uint256 value) returns (bool)'])
  const pay = (to: `0x${string}`, value: bigint) =>
    wallet.writeContract({ address: tokens.USDC as Hex, abi, functionName: 'transfer', args: [to, value] })
  return { address: account.address.toLowerCase(), pay }
}

describe('GET /v1/payments', () => {
  it('shows an external payment on chain to the published client', async () => {
    const [intent, payer] = await Promise.all([openIntent(), openPayer()])
    const transactionHash = await payer.pay(intent.address, 1_500_000n)
    const { payments } = circle
    const list = () => payments.listPayments(undefined, undefined, intent.id, undefined, 'paid')
    await until(async () => idsOf(await list()).length === 1, 'the payment is paid')
    const [payment] = (await list()).data.data as unknown as { id: string }[]
    expect(hasShape(payment)).toBe(true)
    expect(payment).toMatchObject({
      status: 'paid',
      amount: { amount: '1.50', currency: 'USD' },
      settlementAmount: { amount: '1.50', currency: 'USD' },
      fees: { amount: '0.00', currency: 'USD' },
      networkFees: { amount: '0.00', currency: 'USD' },
      paymentIntentId: intent.id,
      fromAddresses: { chain: 'BASE', addresses: [payer.address] },
      transactionHash,
    })
    expect((await payments.getPayment(payment!.id)).data.data).toEqual(payment)
  })

  it('filters and pages, and its links keep the filters', async () => {
    const [intent, other, payer] = [await openIntent(), await openIntent(), await openPayer()]
    for (let count = 1n; count <= 5n; count++) await payer.pay(intent.address, count)
    await payer.pay(other.address, 6n)
    const { payments } = circle
    const none = undefined
    const page = (after?: string, before?: string, size?: number, from?: string, to?: string) =>
      payments.listPayments(
        none,
        none,
        intent.id,
        new Set(['card'] as const),
        'paid',
        from,
        to,
        before,
        after,
        size,
      )
    await until(async () => idsOf(await page()).length === 5, 'five payments are paid')
    const all = idsOf(await page())
    const first = await page(none, none, 2)
    expect(idsOf(first)).toEqual(all.slice(0, 2))
    const second = await page(all[1], none, 2)
    expect(idsOf(second)).toEqual(all.slice(2, 4))
    expect(idsOf(await page(none, all[2], 2))).toEqual(all.slice(0, 2))
    expect(idsOf(await page(all[3]))).toEqual(all.slice(4))
    const links = parseLinkHeader(String(second.headers['link']))
    expect(Object.keys(links).sort()).toEqual(['first', 'next', 'prev', 'self'])
    const next = new URL(links['next']!)
    expect(Object.fromEntries(next.searchParams)).toMatchObject({
      paymentIntentId: intent.id,
      status: 'paid',
      pageSize: '2',
      pageAfter: all[3],
      to: expect.stringMatching(/Z$/),
    })
    const followed = await harness.http('GET', next.pathname + next.search)
    expect(followed.body.data.map(({ id }: { id: string }) => id)).toEqual(all.slice(4))
    const third = (await payments.getPayment(all[2]!)).data.data as unknown as { createDate: string }
    expect(idsOf(await page(none, none, none, third.createDate, third.createDate))).toContain(all[2])
    expect(idsOf(await page(none, none, none, '2100-01-01T00:00:00Z'))).toEqual([])
  })

  it('finds nothing by removed fields or by an unknown intent', async () => {
    await worldOf(harness).payment()
    for (const query of [
      { source: randomUUID() },
      { settlementId: randomUUID() },
      { paymentIntentId: randomUUID() },
      { status: 'action_required' },
    ]) {
      const { status, body } = await harness.http('GET', '/v1/payments', { query })
      expect([status, body]).toEqual([200, { data: [] }])
    }
    const typed = await harness.http('GET', '/v1/payments', { query: 'type=card&type=wire' })
    expect(typed.body.data.length).toBeGreaterThan(0)
  })

  it.each([
    ['status=done', 'status'],
    ['status=paid&status=failed', 'status'],
    ['status=p&status=a&status=i&status=d', 'status'],
    ['paymentIntentId=1', 'paymentIntentId'],
    ['source=212000', 'source'],
    ['settlementId=null', 'settlementId'],
    ['from=212000', 'from'],
    ['to=2026-02-30T00:00:00Z', 'to'],
    ['pageSize=0', 'pageSize'],
    ['pageSize=abc', 'pageSize'],
  ])('refuses %s', async (query, location) => {
    const { status, body } = await harness.http('GET', '/v1/payments', { query })
    expect([status, body.code, body.errors[0].location]).toEqual([400, 2, location])
  })

  it("answers 404 for another tenant's payment", async () => {
    const { id } = await worldOf(harness).payment()
    const other = await harness.newEntity()
    for (const unknown of [id, randomUUID()]) {
      const answer = await other.http('GET', `/v1/payments/${unknown}`)
      expect([answer.status, answer.body.code]).toEqual([404, 1051])
    }
    expect((await other.http('GET', '/v1/payments')).body.data).toEqual([])
  })
})
