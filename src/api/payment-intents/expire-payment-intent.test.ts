import { Circle } from '@circle-fin/circle-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePaymentIntent, makeTransientIntent, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

let harness: Harness
let world: World
beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
})
afterAll(() => harness.close())

// biome-ignore lint/suspicious/noExplicitAny: answers are examined member by member
type Shown = any
const intentOf = async (id: string): Promise<Shown> => world.call('GET', `/v1/paymentIntents/${id}`)
const addressOf = async (id: string) => (await intentOf(id)).paymentMethods[0].address as string
const expire = (id: string) => harness.http('POST', `/v1/paymentIntents/${id}/expire`)
const pay = async (id: string, amountAtomic: bigint) =>
  harness.chain().send(await addressOf(id), amountAtomic, 'USDC')
const isPaid = (id: string, amount: string) =>
  until(async () => (await intentOf(id)).amountPaid.amount === amount, `${amount} is paid`)

describe('POST /v1/paymentIntents/{id}/expire', () => {
  it('closes a pending intent through the published client, idempotently', async () => {
    const { id } = await makeTransientIntent(world)
    const client = new Circle(harness.apiKey, harness.url)
    const { status, data } = await client.cryptoPaymentIntents.expirePaymentIntent(id)
    expect(status).toBe(200)
    const intent: Shown = data.data
    expect(intent.timeline.map((entry: Shown) => entry.status)).toEqual(['expired', 'pending', 'created'])
    expect(intent.timeline[0]).toMatchObject({ context: 'underpaid', reason: 'requested_by_merchant' })
    expect(intent.expiresOn).toBe(intent.timeline[0].time)
    expect(intent.updateDate).toBe(intent.timeline[0].time)
    expect(await intentOf(id)).toEqual(intent)
    expect((await expire(id)).body.data).toEqual(intent)
  })

  it('accepts the empty form that a browser application sends', async () => {
    const { id } = await makeTransientIntent(world)
    const response = await fetch(`${harness.url}/v1/paymentIntents/${id}/expire`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${harness.apiKey}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
    })
    expect([response.status, ((await response.json()) as Shown).data.timeline[0].status]).toEqual([
      200,
      'expired',
    ])
  })

  it('credits later money without matching it to an intent', async () => {
    const { id } = await makeTransientIntent(world)
    await expire(id)
    const hash = await pay(id, 3_000_000n)
    let late: Shown
    await until(async () => {
      const { data } = (await harness.http('GET', '/v1/payments')).body
      late = data.find((payment: Shown) => payment.transactionHash === hash)
      return late?.status === 'paid'
    }, 'the late payment is credited')
    expect(late).not.toHaveProperty('paymentIntentId')
    expect((await intentOf(id)).amountPaid.amount).toBe('0.00')
  })

  it('reports a partial payment', async () => {
    const { id } = await makeTransientIntent(world)
    await pay(id, 1_000_000n)
    await isPaid(id, '1.00')
    expect((await expire(id)).body.data).toMatchObject({
      amountPaid: { amount: '1.00' },
      timeline: [{ status: 'expired', context: 'underpaid' }, { status: 'pending' }, { status: 'created' }],
    })
  })

  it('refuses a continuous, a paid and an unknown intent', async () => {
    const { id: continuous } = await makePaymentIntent(world)
    const { id: paid } = await makeTransientIntent(world)
    await pay(paid, 3_000_000n)
    await isPaid(paid, '3.00')
    for (const id of [continuous, paid]) {
      const before = await intentOf(id)
      const { status, body } = await expire(id)
      expect([status, body.code, body.errors[0].location]).toEqual([400, 2, 'id'])
      expect(await intentOf(id)).toEqual(before)
    }
    expect((await expire('00000000-0000-4000-8000-000000000001')).status).toBe(404)
    expect((await expire('presign')).status).toBe(400)
  })
})
