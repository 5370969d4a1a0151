import { randomBytes, randomUUID } from 'node:crypto'
import { Circle } from '@circle-fin/circle-sdk'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { sql } from '#runtime/db/db'
import { compileResponse } from '#runtime/http/validate'
import { checkLedger } from '#testing/builders/ledger-checks'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs, type Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { paymentPageSchema, shownPaymentPageSchema } from './schema.ts'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
})
afterAll(() => harness?.close())

const unit = 1_000_000n
const contents = { merchantName: 'Corner Books', chains: ['ETH'] }

async function open(amount = '10.00', fields: object = {}, tenant: Tenant = harness) {
  const { body } = await tenant.http('POST', '/v1/paymentIntents', {
    body: {
      idempotencyKey: randomUUID(),
      type: 'transient',
      amount: { amount, currency: 'USD' },
      settlementCurrency: 'USD',
      paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
      ...fields,
    },
  })
  return body.data
}

const set = (id: string, body: object = {}, tenant: Tenant = harness) =>
  tenant.http('PUT', `/v1/paymentIntents/${id}/page`, { body: { ...contents, ...body } })

const tokenIn = (url: string) => new URL(url).pathname.split('/').at(-1)!
/** The answer to a browser, which has no key. */
const look = (token: string) => httpAs(harness.url, undefined)('GET', `/page/payments/${token}`)

async function openPage(amount?: string, tenant: Tenant = harness) {
  const intent = await open(amount, {}, tenant)
  const { url, paymentMethods } = (await set(intent.id, {}, tenant)).body.data
  return { id: intent.id as string, token: tokenIn(url), address: paymentMethods[0].address as string }
}

/** Pays a part of an intent back, as soon as none of its payments is pending. */
const refund = (tenant: Tenant, id: string, chain: string, address: string, amount: string) => {
  const toAmount = { amount, currency: 'USD' }
  const body = {
    idempotencyKey: randomUUID(),
    destination: { address, chain },
    amount: { currency: 'USD' },
    toAmount,
  }
  return until(
    async () => (await tenant.http('POST', `/v1/paymentIntents/${id}/refund`, { body })).status === 201,
    `the refund of ${amount} is accepted`,
  )
}

/** Waits until the page shows these members. */
const shows = (token: string, members: object) =>
  until(
    async () => {
      const { data } = (await look(token)).body
      return Object.entries(members).every(([name, value]) => data[name] === value)
    },
    `the page shows ${JSON.stringify(members)}`,
  )

describe('PUT /v1/paymentIntents/{id}/page', () => {
  it('gives an intent a link and an address on each chain, and leaves what published clients read as it was', async () => {
    const intent = await open()
    const { status, body } = await set(intent.id, {
      returnUrl: 'https://Shop.example/o?id=1',
      description: ' ',
    })
    expect(status).toBe(200)
    expect(compileResponse(paymentPageSchema)(body.data)).toBe(true)
    const [{ address }] = intent.paymentMethods
    expect(body.data).toMatchObject({
      url: expect.stringMatching(/^https:\/\/pages\.example\/pay\/[\w-]{64}$/),
      returnUrl: 'https://shop.example/o?id=1',
      paymentMethods: [
        { type: 'blockchain', chain: 'BASE', address },
        { type: 'blockchain', chain: 'ETH', address },
      ],
    })
    expect(body.data).not.toHaveProperty('description')
    const read = await new Circle(harness.apiKey, harness.url).cryptoPaymentIntents.getPaymentIntent(
      intent.id,
    )
    expect(read.data.data).toEqual(intent)
    expect((await harness.http('GET', `/v1/paymentIntents/${intent.id}/page`)).body).toEqual(body)
  })

  it('keeps link and addresses when it is set again, also at once', async () => {
    const intent = await open()
    const answers = await Promise.all(Array.from({ length: 6 }, () => set(intent.id)))
    const changed = await set(intent.id, { merchantName: 'Other Books', chains: [] })
    for (const { body } of [...answers, changed]) {
      expect(body.data.url).toBe(answers[0]!.body.data.url)
      expect(new Set(body.data.paymentMethods.map(({ address }: { address: string }) => address)).size).toBe(
        1,
      )
    }
    expect(changed.body.data.paymentMethods).toHaveLength(1)
    const rows = await harness.database.one(
      sql`select count(*)::int as count from deposit_addresses where payment_intent_id = ${intent.id}`,
    )
    expect(rows).toEqual({ count: 2 })
  })

  it.each([
    ['no name', { merchantName: undefined }, 2, 'merchantName'],
    ['a name of spaces', { merchantName: '  ' }, 2, 'merchantName'],
    ['a name that is too long', { merchantName: 'n'.repeat(61) }, 2, 'merchantName'],
    ['a description that is too long', { description: 'd'.repeat(201) }, 2, 'description'],
    ['a script for a return address', { returnUrl: 'javascript:alert(1)' }, 2, 'returnUrl'],
    ['plain http', { returnUrl: 'http://shop.example/' }, 2, 'returnUrl'],
    ['a return address with a password', { returnUrl: 'https://me:secret@shop.example/' }, 2, 'returnUrl'],
    ['a return address without a host', { returnUrl: '/orders/1042' }, 2, 'returnUrl'],
    ['a chain without the coin', { chains: ['ETH', 'XLM'] }, 2005, 'chains[1]'],
    ['a chain that is not started', { chains: ['AVAX'] }, 156017, 'chains[0]'],
    ['a chain nobody knows', { chains: ['MATIC'] }, 2, 'chains[0]'],
    ['more chains than there are', { chains: Array(17).fill('ETH') }, 2, 'chains'],
  ])('refuses %s', async (_, body, code, location) => {
    const { id } = await open()
    const answer = await set(id, body)
    expect([answer.status, answer.body.code, answer.body.errors[0].location]).toEqual([400, code, location])
    expect((await harness.http('GET', `/v1/paymentIntents/${id}/page`)).body.code).toBe(178107)
  })

  it('takes a return address on this machine in a sandbox alone', async () => {
    const { id } = await open()
    const returnUrl = 'http://localhost:3000/done'
    expect((await set(id, { returnUrl })).body.data.returnUrl).toBe(returnUrl)
  })

  it('gives no further address to an intent that is over', async () => {
    const { id } = await open()
    await harness.http('POST', `/v1/paymentIntents/${id}/expire`, { body: {} })
    const refused = await set(id)
    expect([refused.status, refused.body.code]).toEqual([400, 178108])
    expect((await set(id, { chains: [] })).status).toBe(200)
  })
})

describe('property 255: the link of a payment page', () => {
  it('opens one intent, for reading, and shows neither ids nor payers', async () => {
    const { id, token, address } = await openPage('4.00')
    await harness.chain().send(address, 4n * unit, 'USDC')
    await shows(token, { stage: 'paid' })
    const { body, text } = await look(token)
    expect(compileResponse(shownPaymentPageSchema)(body.data)).toBe(true)
    const hidden = [id, harness.entityId, harness.apiKey, harness.chain().outsider.toLowerCase()]
    for (const secret of hidden) expect(text.toLowerCase()).not.toContain(secret.toLowerCase())
    for (const method of ['POST', 'PUT', 'DELETE'])
      expect((await httpAs(harness.url, undefined)(method, `/page/payments/${token}`)).status).toBe(404)
  })

  it('cannot be guessed, made from ids, or used for an intent without a page', async () => {
    const { token } = await openPage()
    const other = await harness.newEntity()
    const foreign = await open('1.00', {}, other)
    const bytes = Buffer.from(token, 'base64url')
    const changed = (at: number) => {
      const copy = Buffer.from(bytes)
      copy[at]! ^= 1
      return copy.toString('base64url')
    }
    const ids = Buffer.from((other.entityId + foreign.id).replaceAll('-', ''), 'hex')
    const guesses = [
      ...Array.from({ length: 48 }, (_, at) => changed(at)),
      Buffer.concat([ids, bytes.subarray(32)]).toString('base64url'),
      randomBytes(48).toString('base64url'),
    ]
    // The same bytes, written otherwise: they are refused by their form.
    for (const written of [
      `${token}=`,
      ` ${token}`,
      token.slice(0, 63),
      `${token.slice(0, 8)}!${token.slice(8)}`,
    ])
      expect((await look(encodeURIComponent(written))).status).toBe(400)
    const asked = harness.ctx.database.readingFor
    let reads = 0
    harness.ctx.database.readingFor = (entityId) => {
      reads += entityId.endsWith('pages') ? 1 : 0
      return asked(entityId)
    }
    for (const guess of guesses) {
      const { status, body } = await look(guess)
      expect([guess, status, body.code]).toEqual([guess, 404, 178107])
    }
    harness.ctx.database.readingFor = asked
    expect(reads).toBe(0)
    // The page of the other tenant opens by its own link alone, and only for its owner.
    expect((await set(foreign.id)).body.code).toBe(404)
    const { url } = (await set(foreign.id, {}, other)).body.data
    expect((await harness.http('GET', `/v1/paymentIntents/${foreign.id}/page`)).status).toBe(404)
    expect((await look(tokenIn(url))).body.data.amount).toBe('1.00')
    for (const wrong of ['', 'x', `${token}A`, `${token}/../..`, '%00'.repeat(64)])
      expect((await look(encodeURIComponent(wrong))).status).toBeGreaterThanOrEqual(400)
  })

  it('costs one read of the database in a second, however often it is opened', async () => {
    const { token } = await openPage()
    const asked = harness.ctx.database.readingFor
    let reads = 0
    harness.ctx.database.readingFor = (entityId) => {
      reads += entityId === `${harness.entityId} pages` ? 1 : 0
      return asked(entityId)
    }
    const began = performance.now()
    const answers = await Promise.all(Array.from({ length: 200 }, () => look(token)))
    const seconds = Math.ceil((performance.now() - began) / 1_000)
    harness.ctx.database.readingFor = asked
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect([reads > 0, reads <= seconds]).toEqual([true, true])
  })

  it('is in no line of the log, also when it cannot be answered', async () => {
    const { token } = await openPage()
    const asked = harness.ctx.database.readingFor
    harness.ctx.database.readingFor = (entityId) => {
      if (entityId.endsWith(' pages')) throw new Error('the database is away')
      return asked(entityId)
    }
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const { status } = await look(token)
    const lines = logged.mock.calls.flat().join('')
    logged.mockRestore()
    harness.ctx.database.readingFor = asked
    expect([status, lines.includes('request failed'), lines.includes(token)]).toEqual([500, true, false])
  })
})

describe('property 256: coins on any chain on offer', () => {
  it('count towards the intent once each, and a reorg takes back those of its block', async () => {
    // Without other coins of the merchant, which would be swept first.
    const merchant = await harness.newEntity()
    const { id, token, address } = await openPage('10.00', merchant)
    const [base, eth] = harness.chains
    await base!.send(address, 4n * unit, 'USDC')
    await shows(token, { stage: 'underpaid', amountMissing: '6.00', takesPayment: true })
    await eth!.send(address, 6n * unit, 'USDC')
    await shows(token, { stage: 'paid', amountPaid: '10.00', takesPayment: false })
    await eth!.reorg(1)
    await shows(token, { stage: 'underpaid', amountMissing: '6.00' })
    const { data } = (await look(token)).body
    expect(
      data.payments.map(({ chain, confirmations }: Record<string, unknown>) => [chain, confirmations]),
    ).toEqual([
      ['ETH', 0],
      ['BASE', 1],
    ])
    const uri = data.paymentMethods.find(({ chain }: { chain: string }) => chain === 'ETH').paymentUri
    expect(uri).toBe(
      `ethereum:${eth!.tokens.USDC.toLowerCase()}@${eth!.chainId}/transfer?address=${address}&uint256=6000000`,
    )
    await eth!.send(address, 7n * unit, 'USDC')
    await shows(token, { stage: 'overpaid', amountExcess: '1.00' })
    const { amountPaid, paymentIds } = (await merchant.http('GET', `/v1/paymentIntents/${id}`)).body.data
    expect([amountPaid.amount, paymentIds.length]).toEqual(['11.00', 3])
    // The lost payment is given up, so that the others can be paid back: on each chain what came there, out of the address
    // that both share.
    await eth!.mine(15)
    for (const [chain, code, sum] of [
      [base!, 'BASE', 4n],
      [eth!, 'ETH', 7n],
    ] as const) {
      const transfers = await chain.oracle.transfers({ to: address })
      expect(transfers.reduce((total, { amountAtomic }) => total + amountAtomic, 0n)).toBe(sum * unit)
      const payee = `0x${randomBytes(20).toString('hex')}`
      await refund(merchant, id, code, payee, `${sum}.00`)
      await until(
        async () => (await chain.oracle.balanceOf(payee, chain.tokens.USDC)) === sum * unit,
        `${code} has paid back ${sum}`,
      )
      expect(await chain.oracle.balanceOf(address, chain.tokens.USDC)).toBe(0n)
    }
    await checkLedger(harness.database)
  })
})
