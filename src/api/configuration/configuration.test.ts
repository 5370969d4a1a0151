import { Circle } from '@circle-fin/circle-sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { merchantWalletIdOf } from '#engines/treasury/index'
import { type Harness, openHarness } from '#testing/platform/harness'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ engines: false })
})
afterAll(() => harness.close())

it('GET /ping answers without a key and without an envelope', async () => {
  const answer = await fetch(`${harness.url}/ping`)
  expect([answer.status, await answer.json()]).toEqual([200, { message: 'pong' }])
  expect((await new Circle('', `${harness.url}/`).health.ping()).data).toEqual({ message: 'pong' })
})

it('GET /v1/configuration returns the main wallet, a different one per entity', async () => {
  const { data } = await new Circle(harness.apiKey, harness.url).management.getAccountConfig()
  const { masterWalletId } = data.data!.payments!
  expect(masterWalletId).toMatch(/^1000\d{12}$/)
  expect(masterWalletId).toBe(merchantWalletIdOf(harness.entityId))
  const other = await harness.newEntity()
  expect((await other.http('GET', '/v1/configuration')).body.data.payments.masterWalletId).not.toBe(
    masterWalletId,
  )
  expect((await fetch(`${harness.url}/v1/configuration`)).status).toBe(401)
})

it('removed operations name their replacement, with and without /v1, without a key', async () => {
  for (const [method, path] of [
    ['POST', '/v1/payments'],
    ['POST', '/payments/7/capture'],
    ['GET', '/v1/payments/presign'],
    ['GET', '/v1/cards/7'],
    ['GET', '/v1/balances'],
    ['PUT', '/v1/w3s/developer/wallets/7/backfill'],
    ['PUT', '/developer/wallets/7/backfill'],
  ] as const) {
    const { status, body } = await harness.http(method, path, method === 'GET' ? {} : { body: {} })
    expect([method, path, status, body.code]).toEqual([method, path, 410, 410])
    expect(body.message).toMatch(/^This operation was removed from the interface\. \S.+\.$/)
  }
  // Another operation has that path with another method.
  expect((await harness.http('POST', '/v1/balances', { body: {} })).status).toBe(400)
  expect((await harness.http('GET', '/v1/payments')).status).toBe(200)
})
