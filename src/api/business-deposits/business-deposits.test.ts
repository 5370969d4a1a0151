import { Circle } from '@circle-fin/circle-sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { merchantWalletIdOf } from '#engines/treasury/index'
import { sql } from '#runtime/db/db'
import { checkBooks } from '../../../testing/books.ts'
import { type Harness, openHarness } from '../../../testing/harness.ts'
import { until } from '../../../testing/until.ts'

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

const post = (body: unknown) => harness.http('POST', '/v1/mocks/payments/wire', { body })

it('a wire becomes dollars that are on a chain, and a deposit that is complete', async () => {
  expect((await circle.deposits.listBusinessDeposits()).data.data).toEqual([])
  const sent = wire('1000.5')
  const { status, data } = await circle.payments.createMockWirePayment(sent as never)
  const amount = { amount: '1000.50', currency: 'USD' }
  expect([status, data.data]).toEqual([201, { ...sent, amount, status: 'pending' }])
  const [deposit] = (await circle.deposits.listBusinessDeposits('wire')).data.data!
  expect(deposit).toMatchObject({
    destination: { type: 'wallet', id: merchantWalletIdOf(harness.entityId) },
    amount,
  })
  await until(async () => {
    const { body } = await harness.http('GET', `/v1/businessAccount/deposits/${deposit!.id}`)
    return body.data.status === 'complete'
  }, 'the deposit is complete')
  const { available } = (await circle.balances.listBusinessBalances()).data.data!
  expect(available).toEqual([amount])
  const [{ address }] = (await harness.http('GET', '/v1/businessAccount/wallets/addresses/deposit')).body
    .data as [{ address: `0x${string}` }]
  const chain = harness.chain()
  const minted = await chain.oracle.transfers({ to: address, token: chain.tokens.USDC })
  expect(minted.map(({ amountAtomic }) => amountAtomic)).toEqual([1_000_500_000n])
  await checkBooks(harness.database)
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

it('lists wires only, of the own wallet', async () => {
  const ask = async (query: string) => {
    const { status, body } = await harness.http('GET', '/v1/businessAccount/deposits', { query })
    return [status, body.code]
  }
  expect(await ask('type=wire&walletId=')).toEqual([200, undefined])
  expect(await ask('type=card')).toEqual([400, 2])
  expect(await ask('walletId=212000')).toEqual([400, 1069])
  expect(await ask('from=212000')).toEqual([400, 2])
  const live = await harness.newEntity('LIVE')
  const refused = await live.http('POST', '/v1/mocks/payments/wire', { body: wire('5') })
  expect([refused.status, refused.body.code]).toEqual([403, 3])
})

it('what somebody began to mint is minted by nobody else, and ends after a while as its coins came or not', async () => {
  const merchant = await harness.newEntity()
  await harness.stopEngines()
  for (const amount of ['7', '9', '8'])
    await merchant.http('POST', '/v1/mocks/payments/wire', { body: wire(amount) })
  const begun = sql`update fiat_deposits set state = 'minting'
    where entity_id = ${merchant.entityId} and amount in (7000000, 9000000)`
  expect(await harness.database.run(begun)).toBe(2)
  const { body } = await merchant.http('GET', '/v1/businessAccount/wallets/addresses/deposit')
  await harness.chain().send(body.data[0].address, 9_000_000n, 'USDC')
  harness.startEngines()
  const statuses = async () => {
    const { body } = await merchant.http('GET', '/v1/businessAccount/deposits')
    return body.data
      .map(
        ({ amount, status }: { amount: { amount: string }; status: string }) => `${amount.amount} ${status}`,
      )
      .sort()
  }
  const available = async () =>
    (await merchant.http('GET', '/v1/businessAccount/balances')).body.data.available[0]?.amount
  await until(async () => (await available()) === '17.00', 'what came is credited')
  const untouched = async () => (await statuses()).join() === '7.00 pending,8.00 complete,9.00 pending'
  await until(untouched, 'the untouched one alone is complete')
  harness.clock.moveMs(16 * 60_000)
  await until(async () => !(await statuses()).join().includes('pending'), 'all have ended')
  expect(await statuses()).toEqual(['7.00 failed', '8.00 complete', '9.00 complete'])
  expect(await available()).toBe('17.00')
})
