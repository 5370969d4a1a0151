import { randomUUID } from 'node:crypto'
import { Circle } from '@circle-fin/circle-sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { merchantWalletIdOf } from '#engines/treasury/index'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const path = '/v1/businessAccount/wallets/addresses/deposit'
const request = (fields: object = {}) => ({
  idempotencyKey: randomUUID(),
  chain: 'BASE',
  currency: 'USD',
  ...fields,
})

let harness: Harness
let circle: Circle
beforeAll(async () => {
  harness = await openHarness({
    blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA', 'LINEA-SEPOLIA', 'ZKS-SEPOLIA'],
  })
  circle = new Circle(harness.apiKey, harness.url)
})
afterAll(() => harness?.close())

const post = (body: unknown, query = '') => harness.http('POST', path, { body, query })

it('creates one address per chain for all currencies through the published client, and lists them', async () => {
  const walletId = merchantWalletIdOf(harness.entityId)
  expect((await circle.addresses.getBusinessDepositAddress()).data.data).toEqual([])
  const made = await circle.addresses.createBusinessDepositAddress(request() as never)
  expect(made.status).toBe(201)
  const { id, address } = made.data.data as unknown as { id: string; address: string }
  expect(made.data.data).toEqual({ id, address, currency: 'USD', chain: 'BASE', walletId })
  expect(address).toMatch(/^0x[0-9a-f]{40}$/)
  expect((await post(request({ currency: 'EUR' }))).body.data).toEqual(made.data.data)
  const ids = [id, (await post(request({ chain: 'ETH' }))).body.data.id]
  expect(new Set(ids).size).toBe(2)
  for (const query of ['', `walletId=${walletId}`, 'walletId=']) {
    const again = await post(request(), query)
    expect([again.status, again.body.data.id]).toEqual([201, id])
  }
  const listed = await circle.addresses.getBusinessDepositAddress()
  expect(listed.headers['link']).toBeUndefined()
  const rows = listed.data.data as unknown as { id: string }[]
  expect(rows.map((row) => row.id)).toEqual([...ids].reverse())
})

it('creates one address from many concurrent requests', async () => {
  const other = await harness.newEntity()
  const sent = (_: unknown, index: number) =>
    other.http('POST', path, { body: request({ currency: index % 2 === 0 ? 'USD' : 'EUR' }) })
  const answers = await Promise.all(Array.from({ length: 12 }, sent))
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.data.id}`)).size).toBe(1)
})

it('credits the wallet with coins sent to the address', async () => {
  const { address } = (await post(request({ currency: 'EUR' }))).body.data
  await harness.chain().send(address, 7_250_000n, 'EURC')
  await until(async () => {
    const { data } = await circle.balances.listBusinessBalances()
    return data.data!.available!.some(({ amount, currency }) => amount === '7.25' && currency === 'EUR')
  }, 'the euros are credited')
  await checkLedger(harness.database)
})

it('still credits coins sent to a second address from an earlier version', async () => {
  const merchant = await harness.newEntity()
  const ask = async () => (await merchant.http('POST', path, { body: request() })).body.data
  const second = await ask()
  await harness.database.run(sql`update deposit_addresses set superseded = true where id = ${second.id}`)
  const first = await ask()
  expect(first.address).not.toBe(second.address)
  await harness.chain().send(second.address, 3n, 'USDC')
  await harness.chain().send(first.address, 4n, 'EURC')
  await until(async () => {
    const { available } = (await merchant.http('GET', '/v1/businessAccount/balances')).body.data
    return available.map(({ amount }: { amount: string }) => amount).join() === '0.000004,0.000003'
  }, 'both are credited')
  const { data } = (await merchant.http('GET', path)).body
  expect(data.map(({ id }: { id: string }) => id)).toEqual([first.id, second.id])
})

it.each(['LINEA', 'ZKS'])('credits coins sent on %s, which has no wallets', async (chain) => {
  const merchant = await harness.newEntity()
  const { address } = (await merchant.http('POST', path, { body: request({ chain }) })).body.data
  await harness.chain(`${chain}-SEPOLIA`).send(address, 3_000_001n, 'USDC')
  await until(async () => {
    const { available } = (await merchant.http('GET', '/v1/businessAccount/balances')).body.data
    return available[0]?.amount === '3.000001'
  }, 'the dollars are credited')
  const body = { address, blockchain: `${chain}-SEPOLIA` }
  const { status, body: refusal } = await harness.http('POST', '/v1/w3s/transactions/validateAddress', {
    body,
  })
  expect([status, refusal.code]).toEqual([400, 2])
})

it.each([
  ['a chain that left', request({ chain: 'TRX' }), '', 2, 'chain'],
  ['a family that is not built', request({ chain: 'XLM' }), '', 2005, 'chain'],
  ['a chain that is not started', request({ chain: 'ARB' }), '', 156017, 'chain'],
  ['a currency of another chain', request({ currency: 'BTC' }), '', 5015, 'chain'],
  ['no currency', request({ currency: undefined }), '', 2, 'currency'],
  ['an empty currency', request({ currency: '' }), '', 2, 'currency'],
  ['a wallet of nobody', request(), 'walletId=212000', 1069, 'walletId'],
  ['null for a wallet', request(), 'walletId=null', 1069, 'walletId'],
  ['a bare wallet id, as newer calls on the older client send', 212000, '', 2, 'body'],
  ['an empty object, likewise', {}, '', 2, 'idempotencyKey'],
])('refuses %s', async (_, body, query, code, location) => {
  const answer = await post(body, query)
  expect([answer.status, answer.body.code], answer.text).toEqual([400, code])
  expect(answer.body.errors[0].location).toBe(location)
})

it('lists nothing for a foreign wallet id', async () => {
  const answer = await harness.http('GET', path, { query: 'walletId=1000' })
  expect([answer.status, answer.body.code]).toEqual([400, 1069])
})
