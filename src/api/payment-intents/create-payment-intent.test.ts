import { randomUUID } from 'node:crypto'
import { Circle, type PaymentIntentCreationRequest } from '@circle-fin/circle-sdk'
import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { merchantWalletIdOf } from '#engines/treasury/index'
import { sql } from '#runtime/db/db'
import { compileResponse } from '#runtime/http/validate'
import { type Harness, openHarness } from '#testing/platform/harness'
import { paymentIntentSchema } from './schema.ts'

let harness: Harness
let circle: Circle
beforeAll(async () => {
  harness = await openHarness({ engines: false })
  circle = new Circle(harness.apiKey, harness.url)
})
afterAll(() => harness.close())

const path = '/v1/paymentIntents'
const base = { type: 'blockchain', chain: 'BASE' }
const continuous = (changes: object = {}) => ({
  idempotencyKey: randomUUID(),
  currency: 'USD',
  settlementCurrency: 'USD',
  type: 'continuous',
  paymentMethods: [base],
  ...changes,
})
const transient = (changes: object = {}) => ({
  idempotencyKey: randomUUID(),
  type: 'transient',
  amount: { amount: '3.14', currency: 'USD' },
  settlementCurrency: 'USD',
  paymentMethods: [base],
  ...changes,
})
const post = (body: unknown) => harness.http('POST', path, { body })
const create = async (body: object) => (await post(body)).body.data
const hasShape = compileResponse(paymentIntentSchema)

describe('POST /v1/paymentIntents', () => {
  it('opens a continuous intent through the published client', async () => {
    const body = continuous() as unknown as PaymentIntentCreationRequest
    const { status, data, headers } = await circle.cryptoPaymentIntents.createPaymentIntent(body)
    expect(status).toBe(201)
    expect(headers['x-request-id']).toBeTruthy()
    // biome-ignore lint/suspicious/noExplicitAny: the client's type lacks the continuous kind's fields
    const intent = data.data as any
    expect(hasShape(intent)).toBe(true)
    expect(intent).toMatchObject({
      type: 'continuous',
      currency: 'USD',
      settlementCurrency: 'USD',
      amountPaid: { amount: '0.00', currency: 'USD' },
      amountRefunded: { amount: '0.00', currency: 'USD' },
      fees: [{ type: 'blockchainLeaseFee', amount: '0.00', currency: 'USD' }],
      merchantWalletId: merchantWalletIdOf(harness.entityId),
    })
    for (const absent of ['amount', 'expiresOn', 'paymentIds']) expect(intent).not.toHaveProperty(absent)
    expect(intent.timeline.map(({ status }: { status: string }) => status)).toEqual(['active', 'created'])
    expect(intent.createDate).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const [method] = intent.paymentMethods
    expect(method).toEqual({ ...base, address: method.address.toLowerCase() })
    expect(getAddress(method.address)).toBeTruthy()
    const again = await circle.cryptoPaymentIntents.getPaymentIntent(intent.id)
    expect(again.data.data).toEqual(intent)
  })

  it('opens a transient intent for eight hours when asked for one', async () => {
    const intent = await create(transient())
    expect(hasShape(intent)).toBe(true)
    expect(intent).toMatchObject({
      amount: { amount: '3.14', currency: 'USD' },
      paymentIds: [],
      refundIds: [],
    })
    for (const absent of ['type', 'currency']) expect(intent).not.toHaveProperty(absent)
    expect(intent.timeline[0].status).toBe('pending')
    expect(Date.parse(intent.expiresOn) - Date.parse(intent.createDate)).toBe(8 * 3_600_000)
  })

  it.each([
    ['type transient', transient(), 'pending'],
    ['no type, and an amount', transient({ type: undefined }), 'active'],
    ['no type, no amount', continuous({ type: undefined }), 'active'],
    [
      'a continuous one with its currency in amount',
      continuous({ currency: undefined, amount: { currency: 'USD' } }),
      'active',
    ],
    ['an empty amount', continuous({ type: undefined, amount: { amount: '', currency: 'USD' } }), 'active'],
    ['a continuous one with an amount', continuous({ amount: { amount: '1', currency: 'USD' } }), 'active'],
    ['empty text where nothing is meant', transient({ expiresOn: '', merchantWalletId: '' }), 'pending'],
    [
      'fields nobody knows',
      continuous({ metadata: { email: '' }, paymentMethods: [{ ...base, address: '' }] }),
      'active',
    ],
  ])('takes %s', async (_, body, status) => {
    expect((await create(body)).timeline[0].status).toBe(status)
  })

  it('shows at least two decimal places and all that were given', async () => {
    for (const [given, shown] of [
      ['2', '2.00'],
      ['2.5', '2.50'],
      ['0.000001', '0.000001'],
      ['1000000', '1000000.00'],
    ])
      expect((await create(transient({ amount: { amount: given, currency: 'USD' } }))).amount.amount).toBe(
        shown,
      )
  })

  it('accepts a custom expiry', async () => {
    const intent = await create(transient({ expiresOn: '2100-01-01T01:00:00+01:00' }))
    expect(intent.expiresOn).toBe('2100-01-01T00:00:00.000Z')
  })

  it('assigns every intent a separate address, watched and recorded', async () => {
    const intents = await Promise.all(Array.from({ length: 8 }, () => create(continuous())))
    const addresses = intents.map((intent) => intent.paymentMethods[0].address)
    expect(new Set(addresses).size).toBe(8)
    const watched = await harness.database.all<{ blockchain: string; purpose: string }>(
      sql`select blockchain, purpose from managed_addresses where address = any(${addresses})`,
    )
    expect(watched).toEqual(addresses.map(() => ({ blockchain: 'BASE-SEPOLIA', purpose: 'deposit' })))
    const { id } = intents[0]
    const events = await harness.database.all<{ type: string }>(
      sql`select type from events where resource_id = ${id} order by id`,
    )
    expect(events.map(({ type }) => type)).toEqual(['paymentIntent.created', 'paymentIntent.active'])
    const audit = await harness.database.all<{ actor: string }>(
      sql`select actor from audit where resource_id = ${id}`,
    )
    expect(audit.every(({ actor }) => actor.startsWith('key:'))).toBe(true)
  })

  it('answers a repeated request with the same intent, and a different one with a conflict', async () => {
    const body = transient()
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(body)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    expect(new Set(answers.map((answer) => answer.body.data.id)).size).toBe(1)
    const other = await post({ ...body, amount: { amount: '3.15', currency: 'USD' } })
    expect([other.status, other.body.code]).toEqual([409, 409])
  })

  it.each([
    ['an empty body', {}, 2, 'idempotencyKey'],
    ['no settlement currency', continuous({ settlementCurrency: undefined }), 2, 'settlementCurrency'],
    ['no currency', continuous({ currency: undefined }), 2, 'currency'],
    ['no payment method', continuous({ paymentMethods: [] }), 2, 'paymentMethods'],
    ['two payment methods', continuous({ paymentMethods: [base, base] }), 2, 'paymentMethods'],
    [
      'a chain nobody knows',
      continuous({ paymentMethods: [{ ...base, chain: 'MATIC' }] }),
      2,
      'paymentMethods[0].chain',
    ],
    [
      'a wallet name for a chain',
      continuous({ paymentMethods: [{ ...base, chain: 'BASE-SEPOLIA' }] }),
      2,
      'paymentMethods[0].chain',
    ],
    [
      'a method of another type',
      continuous({ paymentMethods: [{ ...base, type: 'card' }] }),
      2,
      'paymentMethods[0].type',
    ],
    [
      'a chain that is not built',
      continuous({ paymentMethods: [{ ...base, chain: 'XLM' }] }),
      2005,
      'paymentMethods[0].chain',
    ],
    [
      'a chain that is not started',
      continuous({ paymentMethods: [{ ...base, chain: 'ETH' }] }),
      156017,
      'paymentMethods[0].chain',
    ],
    [
      'a currency that is no stablecoin',
      continuous({ currency: 'BTC', settlementCurrency: 'BTC' }),
      1078,
      'currency',
    ],
    [
      'a currency in amount that is no stablecoin',
      continuous({ type: undefined, currency: undefined, amount: { amount: '1', currency: 'BTC' } }),
      1078,
      'amount.currency',
    ],
    ['a currency nobody knows', continuous({ currency: 'GBP' }), 2, 'currency'],
    ['settlement in another currency', continuous({ settlementCurrency: 'EUR' }), 2, 'settlementCurrency'],
    ['another wallet', continuous({ merchantWalletId: '1000000000000000' }), 1069, 'merchantWalletId'],
    ['a wallet id that is too long', continuous({ merchantWalletId: '1'.repeat(37) }), 2, 'merchantWalletId'],
    ['a kind nobody knows', continuous({ type: 'oneTime' }), 2, 'type'],
    ['a key that is no UUID', continuous({ idempotencyKey: 'once' }), 2, 'idempotencyKey'],
    [
      'a transient one without amount',
      transient({ type: 'transient', amount: undefined }),
      2,
      'amount.currency',
    ],
    [
      'a transient one with empty amount',
      transient({ type: 'transient', amount: { amount: '', currency: 'USD' } }),
      2,
      'amount.amount',
    ],
    ['nothing asked for', transient({ amount: { amount: '0.00', currency: 'USD' } }), 1077, 'amount.amount'],
    ['a negative amount', transient({ amount: { amount: '-1', currency: 'USD' } }), 2, 'amount.amount'],
    ['a number for an amount', transient({ amount: { amount: 1, currency: 'USD' } }), 2, 'amount.amount'],
    ['an exponent', transient({ amount: { amount: '1e3', currency: 'USD' } }), 2, 'amount.amount'],
    ['too many digits', transient({ amount: { amount: '0.0000001', currency: 'USD' } }), 2, 'amount.amount'],
    [
      'more than there can be',
      transient({ amount: { amount: '9'.repeat(78), currency: 'USD' } }),
      2,
      'amount.amount',
    ],
    ['a date that is none', transient({ expiresOn: '2100-02-30T00:00:00Z' }), 2, 'expiresOn'],
    ['a date that has passed', transient({ expiresOn: '2020-01-01T00:00:00Z' }), 2, 'expiresOn'],
    ['a list for a body', [continuous()], 2, 'body'],
    ['a bare number for a body', '212000', 2, 'body'],
    ['text that is no JSON', '{"idempotencyKey":', 2, 'body'],
  ])('refuses %s', async (_, body, code, location) => {
    const before = await harness.database.one(sql`select count(*) from payment_intents`)
    const answer = await post(body)
    expect([answer.status, answer.body.code]).toEqual([400, code])
    expect(answer.body.errors.map((error: { location: string }) => error.location)).toContain(location)
    expect(answer.body.message.length).toBeGreaterThan(20)
    expect(await harness.database.one(sql`select count(*) from payment_intents`)).toEqual(before)
  })

  it('refuses a chain without a token of the currency', async () => {
    const live = await harness.newEntity('LIVE')
    const body = continuous({
      currency: 'EUR',
      settlementCurrency: 'EUR',
      paymentMethods: [{ ...base, chain: 'ARB' }],
    })
    const answer = await live.http('POST', path, { body })
    expect([answer.status, answer.body.code]).toEqual([400, 5015])
  })

  it("names the network of the key's environment: a LIVE key cannot reach a test chain", async () => {
    const live = await harness.newEntity('LIVE')
    const answer = await live.http('POST', path, { body: continuous() })
    expect([answer.status, answer.body.code]).toEqual([400, 156017])
    expect(answer.body.message).toContain('BASE,')
  })
})

describe('GET /v1/paymentIntents', () => {
  it('filters by the newest entry, page by page', async () => {
    const tenant = await harness.newEntity()
    const open = async (body: object) => (await tenant.http('POST', path, { body })).body.data.id as string
    const waiting = [await open(transient()), await open(transient()), await open(transient())].reverse()
    const lasting = await open(continuous())
    const list = async (query: Record<string, string>) => {
      const { status, body, headers } = await tenant.http('GET', path, { query })
      expect(status).toBe(200)
      return {
        ids: body.data.map((intent: { id: string }) => intent.id),
        items: body.data,
        link: headers.get('link'),
      }
    }
    const all = await list({})
    expect(all.ids).toEqual([lasting, ...waiting])
    for (const item of all.items) expect(hasShape(item)).toBe(true)
    expect(all.items[1]).not.toHaveProperty('paymentIds')
    expect((await list({ status: 'pending' })).ids).toEqual(waiting)
    expect((await list({ status: 'active' })).ids).toEqual([lasting])
    expect((await list({ status: 'created' })).ids).toEqual([])
    expect((await list({ context: 'underpaid' })).ids).toEqual([])
    const first = await list({ status: 'pending', pageSize: '2' })
    expect(first.ids).toEqual(waiting.slice(0, 2))
    expect(first.link).toContain('status=pending')
    const next = await list({ status: 'pending', pageSize: '2', pageAfter: first.ids[1] })
    expect(next.ids).toEqual(waiting.slice(2))
  })

  it.each([
    [{ status: 'done' }, 'status'],
    [{ context: 'late' }, 'context'],
    [{ pageSize: '0' }, 'pageSize'],
    [{ from: '1' }, 'from'],
  ])('refuses %o', async (query, location) => {
    const { status, body } = await harness.http('GET', path, { query })
    expect([status, body.code, body.errors[0].location]).toEqual([400, 2, location])
  })

  it("answers 404 for another tenant's intent", async () => {
    const { id } = await create(continuous())
    const other = await harness.newEntity()
    for (const unknown of [id, randomUUID()]) {
      const answer = await other.http('GET', `${path}/${unknown}`)
      expect([answer.status, answer.body.code]).toEqual([404, 404])
    }
    expect((await harness.http('GET', `${path}/nothing`)).status).toBe(400)
  })
})
