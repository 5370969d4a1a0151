import { randomUUID } from 'node:crypto'
import { Circle } from '@circle-fin/circle-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import {
  freshAddress,
  fundMerchantWallet,
  makeActiveRecipient,
  makePaymentIntent,
  makePayout,
  type World,
  worldOf,
} from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
let world: World
let circle: Circle
beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  circle = new Circle(harness.apiKey, harness.url)
})
afterAll(() => harness.close())

// biome-ignore lint/suspicious/noExplicitAny: answers are examined member by member
type Shown = any

const payoutOf = async (id: string): Promise<Shown> => (await circle.payouts.getPayout(id)).data.data
const ended = async (id: string): Promise<Shown> => {
  let payout: Shown
  await until(async () => (payout = await payoutOf(id)).status !== 'pending', 'the payout has ended')
  return payout
}
const available = async (): Promise<string | undefined> =>
  (await circle.balances.listBusinessBalances()).data.data!.available?.find(
    ({ currency }) => currency === 'USD',
  )?.amount
const post = (fields: object) =>
  harness.http('POST', '/v1/payouts', { body: { idempotencyKey: randomUUID(), ...fields } })
const usd = (amount: string) => ({ amount, currency: 'USD' })
const to = (id: string) => ({ type: 'address_book', id })

describe('a payout', () => {
  it('is swept from deposit addresses, paid on chain once, and notified with its hash', async () => {
    await fundMerchantWallet(world, 30_000_000n)
    await fundMerchantWallet(world, 20_000_000n)
    const address = freshAddress()
    const recipient = await makeActiveRecipient(world, { address })
    const { data } = (
      await circle.payouts.createPayout({
        idempotencyKey: randomUUID(),
        destination: { type: 'address_book', id: recipient.id },
        amount: { amount: '42.5', currency: 'USD' },
        toAmount: { currency: 'USD' },
      } as never)
    ).data
    expect(data).toEqual({
      id: data!.id,
      sourceWalletId: expect.stringMatching(/^1000\d{12}$/),
      destination: to(recipient.id),
      amount: usd('42.50'),
      toAmount: usd('42.50'),
      status: 'pending',
      createDate: expect.any(String),
      updateDate: expect.any(String),
    })
    expect(await available()).toBe('7.50')
    const payout = await ended(data!.id!)
    expect(payout).toEqual({
      ...data,
      status: 'complete',
      fees: usd('0.00'),
      networkFees: usd('0.00'),
      externalRef: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      updateDate: expect.any(String),
    })
    const { oracle, tokens } = harness.chain()
    const moved = await oracle.transfers({ to: address, token: tokens.USDC })
    expect(moved).toMatchObject([{ amountAtomic: 42_500_000n, txHash: payout.externalRef }])
    expect(await available()).toBe('7.50')
    await checkLedger(harness.database)
  })

  it("keeps the coins of treasury and deposit addresses equal to the merchant's balance", async () => {
    const { oracle, tokens } = harness.chain()
    const addresses = await harness.database.all<{ address: string }>(
      sql`select address from managed_addresses where purpose in ('treasury', 'deposit')`,
    )
    let sum = 0n
    for (const { address } of addresses) sum += await oracle.balanceOf(address, tokens.USDC)
    expect(sum).toBe(7_500_000n)
    const row = await harness.database.one<{ gas: bigint }>(
      sql`select posted as gas from accounts where kind = 'fees' and entity_id = ${harness.entityId}`,
    )
    expect(row.gas).toBeGreaterThan(0n)
  })

  it('is not listed among the transactions of wallets', async () => {
    const { body } = await harness.http('GET', '/v1/w3s/transactions', { query: { includeAll: 'true' } })
    expect(body.data.transactions).toEqual([])
  })

  it('answers the same key with the current state, and another body with a conflict', async () => {
    const payee = await world.payee()
    const body = { idempotencyKey: randomUUID(), destination: to(payee.id), amount: usd('1') }
    const first = await post(body)
    expect(first.status).toBe(201)
    const payout = await ended(first.body.data.id)
    const again = await post(body)
    expect(again.status).toBe(201)
    expect(again.body.data).toEqual(payout)
    expect(await post({ ...body, amount: usd('2') })).toMatchObject({ status: 409, body: { code: 409 } })
  })

  it("above the travel rule's limit fails without identities, and is paid with them", async () => {
    await fundMerchantWallet(world, 7_000_000_000n)
    const before = await available()
    const denied = await ended((await makePayout(world, { amount: usd('3000') })).id)
    expect(denied).toMatchObject({
      status: 'failed',
      errorCode: 'transaction_denied',
      riskEvaluation: { decision: 'denied', reason: '3220' },
    })
    expect(await available()).toBe(before)
    const place = { line1: 'Mint 1', city: 'Boston', district: 'MA', postalCode: '02110', country: 'US' }
    const identities = [{ type: 'business', name: 'Bezants', addresses: [place] }]
    const { body: config } = await harness.http('GET', '/v1/configuration')
    const id = config.data.payments.masterWalletId
    const source = { type: 'wallet', id, identities }
    const paid = await ended((await makePayout(world, { amount: usd('3000'), source })).id)
    expect(paid.status).toBe('complete')
    expect(paid).not.toHaveProperty('source')
    const shown = await harness.http('GET', `/v1/payouts/${paid.id}`, { query: { returnIdentities: 'true' } })
    expect(shown.body.data.source).toEqual(source)
  })

  it('to an address that the token refuses fails and releases its money', async () => {
    const address = harness.chain().tokens.USDC
    const before = await available()
    // The address book accepts no token contract: the address is changed after the recipient was stored.
    const recipient = await makeActiveRecipient(world)
    await harness.database.run(sql`update recipients set address = ${address} where id = ${recipient.id}`)
    const { id } = await makePayout(world, { destination: to(recipient.id) })
    const payout = await ended(id)
    expect(payout).toMatchObject({ status: 'failed', errorCode: 'transaction_failed' })
    expect(await available()).toBe(before)
    await checkLedger(harness.database)
  })
})

describe('a payout is refused for', () => {
  it.each([
    ['an amount of zero', { amount: usd('0') }, 5002],
    ['an amount below zero', { amount: usd('-1') }, 5002],
    ['too many digits', { amount: usd('0.0000001') }, 2],
    ['a number with an exponent', { amount: usd('1e3') }, 2],
    ['another currency', { amount: { amount: '1', currency: 'BTC' } }, 5007],
    ['another amount to arrive', { toAmount: usd('0.99') }, 2],
    ['an exchange', { toAmount: { currency: 'EUR' } }, 5007],
    ['an unknown recipient', { destination: to(randomUUID()) }, 5004],
    ['an unknown wallet', { source: { type: 'wallet', id: '1000' } }, 5005],
    ['more than there is', { amount: usd('100000000') }, 5006],
    ['what no token counts', { amount: usd('1'.repeat(78)) }, 2],
    ['a destination without id', { destination: { type: 'address_book' } }, 2],
    ['a destination of another kind', { destination: { type: 'wire', id: randomUUID() } }, 2],
  ])('%s', async (_, fields, code) => {
    const before = await available()
    const body = { destination: to((await world.payee()).id), amount: usd('1'), ...fields }
    expect(await post(body)).toMatchObject({ status: 400, body: { code } })
    expect(await available()).toBe(before)
  })

  it('a chain that contradicts the recipient, which it names', async () => {
    const destination = { ...to((await world.payee()).id), chain: 'ETH' }
    const { status, body } = await post({ destination, amount: usd('1') })
    expect([status, body.code, body.errors[0].location]).toEqual([400, 2, 'destination.chain'])
    expect(body.message).toContain('BASE')
    // More than there is: only the money is refused.
    const agreed = await post({ destination: { ...destination, chain: 'BASE' }, amount: usd('100000000') })
    expect(agreed.body.code).toBe(5006)
  })

  it('identities of another type', async () => {
    const identities = [
      {
        type: 'robot',
        name: 'R',
        addresses: [{ line1: 'a', city: 'b', postalCode: 'c', country: 'DE', district: 'BE' }],
      },
    ]
    const body = { destination: to((await world.payee()).id), amount: usd('1') }
    const source = { type: 'wallet', id: '', identities }
    expect(await post({ ...body, source })).toMatchObject({ status: 400, body: { code: 5000 } })
  })

  it('a payout to an inactive recipient is refused', async () => {
    const recipient = await makeActiveRecipient(world)
    await harness.database.run(sql`update recipients set status = 'inactive' where id = ${recipient.id}`)
    const answer = await post({ destination: to(recipient.id), amount: usd('1') })
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 5003, message: 'Inactive destination address' },
    })
  })

  it('the account itself as recipient, and a recipient of another merchant', async () => {
    const { address } = await harness.database.one<{ address: string }>(
      sql`select address from treasuries where entity_id = ${harness.entityId}`,
    )
    const own = await makeActiveRecipient(world, { address })
    expect(await post({ destination: to(own.id), amount: usd('1') })).toMatchObject({ body: { code: 5011 } })
    const { depositAddress } = await makePaymentIntent(world)
    const pocket = await makeActiveRecipient(world, { address: depositAddress })
    expect(await post({ destination: to(pocket.id), amount: usd('1') })).toMatchObject({
      body: { code: 5011 },
    })
    const theirs = await makeActiveRecipient(worldOf(harness, await harness.newEntity()))
    expect(await post({ destination: to(theirs.id), amount: usd('1') })).toMatchObject({
      body: { code: 5004 },
    })
  })
})

describe('the list of payouts', () => {
  const list = (...filters: Parameters<Circle['payouts']['listPayouts']>) =>
    circle.payouts.listPayouts(...filters).then(({ data }) => data.data as Shown[])

  it('applies the filters of the client', async () => {
    const all = await list()
    expect(all.length).toBeGreaterThan(4)
    const failed = await list(undefined, undefined, undefined, ['failed'] as never)
    expect(new Set(failed.map(({ status }) => status))).toEqual(new Set(['failed']))
    expect(await list(undefined, undefined, undefined, ['failed', 'complete'] as never)).toEqual(all)
    const { id } = await world.payee()
    const his = await list(undefined, id, ['address_book'] as never)
    expect(his).toEqual(all.filter(({ destination }) => destination.id === id))
    const [{ sourceWalletId }] = all
    expect(await list(sourceWalletId)).toEqual(all)
    expect(await list('1000')).toEqual([])
    const get = (query: Record<string, string>) => harness.http('GET', '/v1/payouts', { query })
    expect(
      (await get({ sourceCurrency: 'USD', destinationCurrency: 'USD', chain: 'BASE' })).body.data,
    ).toEqual(all)
    expect((await get({ sourceCurrency: 'EUR' })).body.data).toEqual([])
    expect((await get({ chain: 'ETH' })).body.data).toEqual([])
  })

  it.each([
    ['source=abc', 5013],
    ['type=address_book&type=wire', 5012],
    ['type=wire', 2],
    ['status=p&status=e', 2],
    ['destination=abc', 2],
    ['chain=FLOW', 2],
  ])('refuses %s', async (query, code) => {
    const answer = await harness.http('GET', `/v1/payouts?${query}`)
    expect(answer).toMatchObject({ status: 400, body: { code } })
  })

  it('the list of payouts excludes those of other merchants', async () => {
    const other = await harness.newEntity()
    expect((await other.http('GET', '/v1/payouts')).body.data).toEqual([])
    const [{ id }] = await list()
    expect(await other.http('GET', `/v1/payouts/${id}`)).toMatchObject({ status: 404, body: { code: 5001 } })
  })
})
