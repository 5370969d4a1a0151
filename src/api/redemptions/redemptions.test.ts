import { randomUUID } from 'node:crypto'
import { Circle } from '@circle-fin/circle-sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { proveMoney } from '#engines/treasury/reconciliation/index'
import { sql } from '#runtime/db/db'
import { usAccount } from '#testing/builders/bank-accounts'
import { checkLedger } from '#testing/builders/ledger-checks'
import { type Harness, openHarness } from '#testing/platform/harness'
import type { Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'

let harness: Harness
let circle: Circle
beforeAll(async () => {
  harness = await openHarness()
  circle = new Circle(harness.apiKey, harness.url)
})
afterAll(() => harness?.close())

type Linked = { id: string; trackingRef: string; fingerprint: string }
const decidedMs = 3_000
const nobody = `0x${'0'.repeat(40)}`
const usd = (amount: string) => ({ amount, currency: 'USD' as const })
const availableTo = async (tenant: Tenant) =>
  (await tenant.http('GET', '/v1/businessAccount/balances')).body.data.available[0]?.amount ?? '0.00'

/** The bank decides about what it has: time passes for it. */
async function untilStatus(tenant: Tenant, path: string, status: string) {
  let shown = {} as Record<string, unknown>
  await until(async () => {
    harness.clock.moveMs(decidedMs)
    shown = (await tenant.http('GET', path)).body.data
    return shown['status'] === status
  }, `${path} is ${status}`)
  return shown
}

async function link(tenant: Tenant, fields: object = {}) {
  const body = { idempotencyKey: randomUUID(), ...usAccount, ...fields }
  const {
    body: answer,
    text,
    status,
  } = await tenant.http('POST', '/v1/businessAccount/banks/wires', { body })
  expect(status, text).toBe(201)
  return untilStatus(tenant, `/v1/businessAccount/banks/wires/${answer.data.id}`, 'complete')
}

async function fund(tenant: Tenant, trackingRef: string, amount: string) {
  const before = Number(await availableTo(tenant))
  const body = { trackingRef, amount: usd(amount), beneficiaryBank: { accountNumber: '11111111111' } }
  const { status, text } = await tenant.http('POST', '/v1/mocks/payments/wire', { body })
  expect(status, text).toBe(201)
  const isThere = async () => Number(await availableTo(tenant)) === before + Number(amount)
  await until(isThere, 'the wire is credited')
}

const payout = (tenant: Tenant, id: string, amount: string, idempotencyKey: string = randomUUID()) =>
  tenant.http('POST', '/v1/businessAccount/payouts', {
    body: { idempotencyKey, destination: { type: 'wire', id }, amount: usd(amount) },
  })

/** The coins in circulation, by what the chain says was made and destroyed. */
async function supply(): Promise<bigint> {
  const { oracle, tokens } = harness.chain()
  const sumOf = (moved: readonly { amountAtomic: bigint }[]) =>
    moved.reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n)
  const token = tokens.USDC
  return (
    sumOf(await oracle.transfers({ from: nobody, token })) -
    sumOf(await oracle.transfers({ to: nobody, token }))
  )
}

async function requireProvenMoney() {
  await until(
    async () => (await proveMoney(harness.database)).gaps.length === 0,
    'what depositors own equals the coins',
  )
  await checkLedger(harness.database)
}

it('property 253: a redemption burns its coins and is paid once, by the published client', async () => {
  const created = await circle.wires.createBusinessWireAccount({
    idempotencyKey: randomUUID(),
    ...usAccount,
  } as never)
  expect([created.status, created.data.data]).toMatchObject([
    201,
    { status: 'pending', description: 'SAN FRANCISCO ****0010' },
  ])
  const { id, trackingRef } = created.data.data!
  await untilStatus(harness, `/v1/businessAccount/banks/wires/${id}`, 'complete')
  expect(JSON.stringify((await circle.wires.getBusinessWireAccount(id)).data)).not.toContain('12340010')
  const instructions = (await circle.wires.getBusinessWireAccountInstructions(id, 'USD')).data.data!
  expect(instructions).toMatchObject({ trackingRef, beneficiaryBank: { accountNumber: '11111111111' } })
  await fund(harness, trackingRef!, '1000')
  const [deposit] = (await circle.deposits.listBusinessDeposits('wire')).data.data!
  expect(deposit).toMatchObject({ sourceWalletId: id, status: 'complete' })

  const supplied = await supply()
  const asked = { idempotencyKey: randomUUID(), destination: { type: 'wire', id }, amount: usd('400.25') }
  const { data, status } = await circle.payouts.createBusinessPayout(asked as never)
  const made = data.data!
  expect([status, made]).toMatchObject([
    201,
    {
      status: 'pending',
      destination: { type: 'wire', id, name: 'SAN FRANCISCO ****0010' },
      amount: usd('400.25'),
    },
  ])
  // Reserved at once; a repeated request is the same payout.
  expect(await availableTo(harness)).toBe('599.75')
  expect((await circle.payouts.createBusinessPayout(asked as never)).data.data!.id).toBe(made.id)
  const paid = await untilStatus(harness, `/v1/businessAccount/payouts/${made.id}`, 'complete')
  expect(paid).toMatchObject({
    toAmount: usd('400.25'),
    fees: usd('0.00'),
    trackingRef: expect.any(String),
    externalRef: expect.any(String),
  })
  expect((await circle.payouts.getBusinessPayout(made.id!)).data.data).toEqual(paid)
  const listed = await circle.payouts.listBusinessPayouts(id, 'wire', new Set(['complete'] as const))
  expect(listed.data.data).toEqual([paid])
  expect(
    (await circle.payouts.listBusinessPayouts(id, 'wire', new Set(['failed'] as const))).data.data,
  ).toEqual([])
  expect(await availableTo(harness)).toBe('599.75')
  expect(await supply()).toBe(supplied - 400_250_000n)
  await requireProvenMoney()
})

it('property 253: what the bank refuses or returns is credited again, exactly once', async () => {
  const merchant = await harness.newEntity()
  const { id, trackingRef } = (await link(merchant)) as Linked
  await fund(merchant, trackingRef, '100')
  const supplied = await supply()
  const idOf = async (amount: string) => (await payout(merchant, id, amount)).body.data.id as string
  const pathOf = (payoutId: string) => `/v1/businessAccount/payouts/${payoutId}`
  const [returned, refused, failed] = [await idOf('6.21'), await idOf('6.37'), await idOf('6.53')]
  const ofReturn = await untilStatus(merchant, pathOf(returned), 'failed')
  expect(ofReturn).toMatchObject({
    errorCode: 'transaction_returned',
    return: { payoutId: returned, amount: usd('6.21'), fees: usd('0.00'), reason: 'Account closed' },
  })
  expect(await untilStatus(merchant, pathOf(refused), 'failed')).toMatchObject({
    errorCode: 'transaction_returned',
    return: { payoutId: refused },
  })
  const ofFailure = await untilStatus(merchant, pathOf(failed), 'failed')
  expect(ofFailure).toMatchObject({ errorCode: 'transaction_failed' })
  expect(ofFailure['return']).toBeUndefined()
  await until(async () => (await availableTo(merchant)) === '100.00', 'all is credited again')
  const { body } = await merchant.http('GET', pathOf(returned))
  expect(body.data.return.status).toBe('complete')
  // Only the wire of the customer is a deposit.
  const deposits = (await merchant.http('GET', '/v1/businessAccount/deposits')).body.data
  expect(deposits.map(({ amount }: { amount: object }) => amount)).toEqual([usd('100.00')])
  expect((await merchant.http('GET', `/v1/businessAccount/deposits/${body.data.return.id}`)).status).toBe(404)
  const types = await harness.database.all<{ type: string }>(
    sql`select type from events where resource_id = ${returned} and type like 'redemption.%' order by id`,
  )
  expect(types.map(({ type }) => type)).toEqual([
    'redemption.pending',
    'redemption.redeemed',
    'redemption.complete',
    'redemption.failed',
  ])
  harness.clock.moveMs(60_000)
  expect(await supply()).toBe(supplied)
  await requireProvenMoney()
  expect(await availableTo(merchant)).toBe('100.00')
})

it('property 254: tenants see and use their own bank accounts only, and none holds up another', async () => {
  const [one, other] = [await harness.newEntity(), await harness.newEntity()]
  const mine = (await link(one)) as Linked
  const theirs = (await link(other)) as Linked
  expect(theirs.fingerprint).not.toBe(mine.fingerprint)
  expect(((await link(one)) as Linked).fingerprint).toBe(mine.fingerprint)
  for (const path of ['', '/instructions']) {
    const answer = await other.http('GET', `/v1/businessAccount/banks/wires/${mine.id}${path}`)
    expect([answer.status, answer.body.code]).toEqual([404, 404])
  }
  expect((await other.http('GET', '/v1/businessAccount/banks/wires')).body.data).toHaveLength(1)
  await fund(other, theirs.trackingRef, '5')
  const refused = await payout(other, mine.id, '1')
  expect([refused.status, refused.body.code, refused.body.errors[0].location]).toEqual([
    400,
    2,
    'destination.id',
  ])
  const made = (await payout(other, theirs.id, '1')).body.data
  const hidden = await one.http('GET', `/v1/businessAccount/payouts/${made.id}`)
  expect([hidden.status, hidden.body.code]).toEqual([404, 5001])
  expect((await one.http('GET', '/v1/businessAccount/payouts')).body.data).toEqual([])
  await untilStatus(other, `/v1/businessAccount/payouts/${made.id}`, 'complete')
  // The reference of another tenant is a text like any other.
  await fund(one, theirs.trackingRef, '3')
  expect((await one.http('GET', '/v1/businessAccount/deposits')).body.data[0].sourceWalletId).toBeUndefined()
  await requireProvenMoney()
})

it.each([
  ['more than the balance', '1000000', {}, 1093],
  ['nothing', '0', {}, 5002],
  ['parts of a cent', '1.001', {}, 2],
  ['euros', '1', { amount: { amount: '1', currency: 'EUR' } }, 5007],
  ['euros to receive', '1', { toAmount: { currency: 'EUR' } }, 5007],
  ['another kind of destination', '1', { destination: { type: 'cbit', id: randomUUID() } }, 2],
  ['an unknown bank account', '1', { destination: { type: 'wire', id: randomUUID() } }, 2],
])('POST /v1/businessAccount/payouts refuses %s', async (_, amount, fields, code) => {
  const { id } = (await harness.http('GET', '/v1/businessAccount/banks/wires')).body.data[0]
  const body = {
    idempotencyKey: randomUUID(),
    destination: { type: 'wire', id },
    amount: usd(amount),
    ...fields,
  }
  const answer = await harness.http('POST', '/v1/businessAccount/payouts', { body })
  expect([answer.status, answer.body.code], answer.text).toEqual([400, code])
})

it('answers repeat no number of an account, and show half of a short one', async () => {
  const send = (fields: object) =>
    harness.http('POST', '/v1/businessAccount/banks/wires', {
      body: { idempotencyKey: randomUUID(), ...usAccount, ...fields },
    })
  const tooLong = '1234567890'.repeat(5)
  for (const fields of [{ accountNumber: tooLong }, { iban: tooLong }, { accountNumber: 123456789 }]) {
    const { status, text } = await send(fields)
    expect(status, text).toBe(400)
    expect(text).not.toContain('123456789')
  }
  expect((await send({ accountNumber: '1234' })).body.data.description).toBe('SAN FRANCISCO ****34')
})

it('a tenant has no more than a hundred accounts that wait for the bank, and stops no other', async () => {
  const [busy, other] = [await harness.newEntity(), await harness.newEntity()]
  await harness.database.run(sql`insert into bank_accounts (entity_id, id, status, description, tracking_ref, fingerprint,
      billing_details, bank_address, create_date, update_date)
    select ${busy.entityId}, gen_random_uuid(), 'pending', '', 'R' || i, gen_random_uuid(), '{}', '{}', now(), now()
    from generate_series(1, 100) i`)
  const link = async ({ http }: Pick<Tenant, 'http'>) => {
    const body = { idempotencyKey: randomUUID(), ...usAccount }
    const answer = await http('POST', '/v1/businessAccount/banks/wires', { body })
    return [answer.status, answer.body.message]
  }
  expect(await link(busy)).toEqual([429, expect.stringContaining('100 accounts wait for the bank')])
  expect((await link(other))[0]).toBe(201)
})

it('a payout waits for an account that is pending', async () => {
  const merchant = await harness.newEntity()
  const body = { idempotencyKey: randomUUID(), ...usAccount }
  const { id } = (await merchant.http('POST', '/v1/businessAccount/banks/wires', { body })).body.data
  const answer = await payout(merchant, id, '1')
  expect([answer.status, answer.body.message]).toEqual([
    400,
    expect.stringContaining('wait until it is complete'),
  ])
  // Without a bank, every operation of it is forbidden: here for LIVE keys.
  const live = await harness.newEntity('LIVE')
  for (const path of ['/v1/businessAccount/banks/wires', '/v1/businessAccount/payouts']) {
    const refused = await live.http('GET', path)
    expect([refused.status, refused.body.code]).toEqual([403, 3])
  }
  const linking = await live.http('POST', '/v1/businessAccount/banks/wires', { body })
  expect([linking.status, linking.body.message]).toEqual([403, expect.stringContaining('BEZANT_BANK_RAIL')])
})
