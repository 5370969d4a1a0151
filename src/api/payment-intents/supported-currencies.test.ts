import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, openHarness } from '#testing/platform/harness'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['ETH-SEPOLIA', 'BASE-SEPOLIA'], engines: false })
})
afterAll(() => harness?.close())

const path = '/v1/paymentIntents/metadata/supportedCurrencies'

it('names the chains where an intent can be opened', async () => {
  const { status, body } = await harness.http('GET', path)
  const blockchains = ['BASE', 'ETH']
  expect([status, body.data]).toEqual([
    200,
    [
      { currency: 'USD', blockchains },
      { currency: 'EUR', blockchains },
    ],
  ])
  for (const { currency, blockchains: chains } of body.data)
    for (const chain of chains) {
      const intent = await harness.http('POST', '/v1/paymentIntents', {
        body: {
          idempotencyKey: crypto.randomUUID(),
          type: 'continuous',
          currency,
          settlementCurrency: currency,
          paymentMethods: [{ type: 'blockchain', chain }],
        },
      })
      expect(intent.status).toBe(201)
    }
})

it('names none for a key whose environment has no chain here', async () => {
  const live = await harness.newEntity('LIVE')
  expect((await live.http('GET', path)).body).toEqual({ data: [] })
})
