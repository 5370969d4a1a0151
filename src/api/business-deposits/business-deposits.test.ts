import { Circle } from '@circle-fin/circle-sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { merchantWalletIdOf } from '#engines/treasury/index'
import { proveMoney } from '#engines/treasury/reconciliation/index'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import { type Harness, openHarness } from '#testing/platform/harness'
import type { Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'

const wire = (amount: unknown, fields: object = {}) => ({
  trackingRef: 'CIR2Y3BBTP',
  amount: { amount, currency: 'USD' },
  beneficiaryBank: { accountNumber: '11111111111' },
  ...fields,
})

let harness: Harness
let circle: Circle
beforeAll(async () => {
  harness = await openHarness()
  circle = new Circle(harness.apiKey, harness.url)
})
afterAll(() => harness?.close())

const treasuryOf = async (entityId: string) =>
  (
    await harness.database.one<{ address: `0x${string}` }>(
      sql`select address from treasuries where entity_id = ${entityId}`,
    )
  ).address
const availableTo = async (merchant: Tenant) =>
  (await merchant.http('GET', '/v1/businessAccount/balances')).body.data.available[0]?.amount
const gapOf = async ({ entityId }: Tenant) =>
  (await proveMoney(harness.database)).gaps.find((gap) => gap.entityId === entityId)?.gap ?? 0n

const post = (body: unknown) => harness.http('POST', '/v1/mocks/payments/wire', { body })

it('a wire mints dollars on a chain and completes a deposit', async () => {
  expect((await circle.deposits.listBusinessDeposits()).data.data).toEqual([])
  const sent = wire('1000.5')
  const { status, data } = await circle.payments.createMockWirePayment(sent as never)
  const amount = { amount: '1000.50', currency: 'USD' }
  expect([status, data.data]).toEqual([201, { ...sent, amount, status: 'pending' }])
  const [deposit] = (await circle.deposits.listBusinessDeposits('wire')).data.data!
  expect(deposit).toMatchObject({
    destination: { type: 'wallet', id: merchantWalletIdOf(harness.entityId) },
    amount,
    fee: { amount: '0.00', currency: 'USD' },
  })
  await until(async () => {
    const { body } = await harness.http('GET', `/v1/businessAccount/deposits/${deposit!.id}`)
    return body.data.status === 'complete'
  }, 'the deposit is complete')
  const { available } = (await circle.balances.listBusinessBalances()).data.data!
  expect(available).toEqual([amount])
  const chain = harness.chain()
  const to = await treasuryOf(harness.entityId)
  const minted = await chain.oracle.transfers({ to, token: chain.tokens.USDC })
  expect(minted.map(({ amountAtomic }) => amountAtomic)).toEqual([1_000_500_000n])
  await checkLedger(harness.database)
})

it('a wire appears only as a deposit, not as a transfer or payment', async () => {
  const merchant = await harness.newEntity()
  await merchant.http('POST', '/v1/mocks/payments/wire', { body: wire('25') })
  await until(async () => (await availableTo(merchant)) === '25.00', 'the wire is credited')
  const listed = async (path: string) => (await merchant.http('GET', path)).body.data
  expect(await listed('/v1/businessAccount/transfers')).toEqual([])
  expect(await listed('/v1/businessAccount/wallets/addresses/deposit')).toEqual([])
  const deposits = await listed('/v1/businessAccount/deposits')
  expect(deposits.map(({ status }: { status: string }) => status)).toEqual(['complete'])
})

it('a wire in an orphaned block is pending again, and credited once in its new block', async () => {
  const merchant = await harness.newEntity()
  const chain = harness.chain()
  await merchant.http('POST', '/v1/mocks/payments/wire', { body: wire('31') })
  await until(async () => (await availableTo(merchant)) === '31.00', 'the wire is credited')
  const statusOf = async () =>
    (await merchant.http('GET', '/v1/businessAccount/deposits')).body.data[0].status as string
  const to = await treasuryOf(merchant.entityId)
  const [minted] = await chain.oracle.transfers({ to, token: chain.tokens.USDC })
  await chain.setAutomine(false)
  try {
    await chain.reorgFrom(minted!.blockNumber)
    await until(async () => (await statusOf()) === 'pending', 'the wire is taken back')
    expect(await availableTo(merchant)).toBe('0.00')
    expect(await gapOf(merchant)).toBe(0n)
  } finally {
    await chain.setAutomine(true)
  }
  await until(async () => {
    await chain.mine()
    return (await statusOf()) === 'complete'
  }, 'the wire is complete again')
  expect(await availableTo(merchant)).toBe('31.00')
  expect(await gapOf(merchant)).toBe(0n)
  await checkLedger(harness.database)
})

it.each([
  ['nothing', wire('0'), 1077, 'amount.amount'],
  ['less than nothing', wire('-1'), 2, 'amount.amount'],
  ['parts of a cent', wire('1.001'), 2, 'amount.amount'],
  ['more than there is', wire('9'.repeat(70)), 2, 'amount.amount'],
  ['an amount without end', wire('9'.repeat(400)), 2, 'amount.amount'],
  ['a number', wire(5), 2, 'amount.amount'],
  ['an empty amount', wire(''), 2, 'amount.amount'],
  ['euros', wire('5', { amount: { amount: '5', currency: 'EUR' } }), 2, 'amount.currency'],
  ['no bank', wire('5', { beneficiaryBank: undefined }), 2, 'beneficiaryBank'],
  ['no reference', wire('5', { trackingRef: '' }), 2, 'trackingRef'],
])('POST /v1/mocks/payments/wire refuses %s', async (_, body, code, location) => {
  const answer = await post(body)
  expect([answer.status, answer.body.code], answer.text).toEqual([400, code])
  expect(answer.body.errors[0].location).toBe(location)
})

it("lists only the wires of the entity's wallet", async () => {
  const ask = async (query: string) => {
    const { status, body } = await harness.http('GET', '/v1/businessAccount/deposits', { query })
    return [status, body.code]
  }
  expect(await ask('type=wire')).toEqual([200, undefined])
  expect(await ask('type=card')).toEqual([400, 2])
  expect(await ask('type=wire&walletId=')).toEqual([400, 2])
  expect(await ask('walletId=212000')).toEqual([400, 1069])
  expect(await ask('from=212000')).toEqual([400, 2])
  const live = await harness.newEntity('LIVE')
  const refused = await live.http('POST', '/v1/mocks/payments/wire', { body: wire('5') })
  expect([refused.status, refused.body.code]).toEqual([403, 3])
})

it('a wire that one process began to mint is not minted twice, and ends by whether its coins arrived', async () => {
  const merchant = await harness.newEntity()
  await harness.stopEngines()
  for (const amount of ['7', '20', '8'])
    await merchant.http('POST', '/v1/mocks/payments/wire', { body: wire(amount) })
  const begun = sql`update fiat_deposits set state = 'minting'
    where entity_id = ${merchant.entityId} and amount in (7000000, 20000000)`
  expect(await harness.database.run(begun)).toBe(2)
  // Simulates a death of the process after the mint: a drip of the faucet brings the same amount.
  const drip = { address: await treasuryOf(merchant.entityId), blockchain: 'BASE-SEPOLIA', usdc: true }
  expect((await merchant.http('POST', '/v1/faucet/drips', { body: drip })).status).toBe(204)
  harness.startEngines()
  const statuses = async () => {
    const { body } = await merchant.http('GET', '/v1/businessAccount/deposits')
    return body.data
      .map(
        ({ amount, status }: { amount: { amount: string }; status: string }) => `${amount.amount} ${status}`,
      )
      .sort()
  }
  await until(async () => (await availableTo(merchant)) === '8.00', 'the untouched one is credited')
  const untouched = async () => (await statuses()).join() === '20.00 pending,7.00 pending,8.00 complete'
  await until(untouched, 'the untouched one alone is complete')
  harness.clock.moveMs(16 * 60_000)
  await until(async () => !(await statuses()).join().includes('pending'), 'all have ended')
  expect(await statuses()).toEqual(['20.00 complete', '7.00 failed', '8.00 complete'])
  expect(await availableTo(merchant)).toBe('28.00')
  await checkLedger(harness.database)
})
