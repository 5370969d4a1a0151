/** A bank that the operator connects: POST /bank/results, and the orders that go out. */
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { proveMoney } from '#engines/treasury/reconciliation/index'
import { sql } from '#runtime/db/db'
import { usAccount } from '#testing/builders/bank-accounts'
import { checkLedger } from '#testing/builders/ledger-checks'
import { freshAddress } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { openBank, type TestBank } from '#testing/servers/bank'

const issuer = freshAddress()
let harness: Harness
let bank: TestBank
beforeAll(async () => {
  bank = await openBank('BASE-SEPOLIA', issuer)
  harness = await openHarness({ config: { bankRail: bank.setting } })
})
afterAll(async () => {
  await harness?.close()
  bank.close()
})

type Shown = { id: string; status: string } & Record<string, unknown>

const usd = (amount: string) => ({ amount, currency: 'USD' })
const report = (result: object, changes?: Parameters<TestBank['report']>[2]) =>
  bank.report(harness.url, { entityId: harness.entityId, ...result }, changes)
const call = async (method: 'GET' | 'POST', path: string, body?: object): Promise<Shown> =>
  (await harness.http(method, path, body && { body: { idempotencyKey: randomUUID(), ...body } })).body.data
const shown = (id: string) => call('GET', `/v1/businessAccount/payouts/${id}`)
const available = async () =>
  (await harness.http('GET', '/v1/businessAccount/balances')).body.data.available[0]?.amount
const orderOf = async (id: string) => {
  const find = () => bank.orders.find((order) => order.id === id)
  await until(() => find() !== undefined, `the bank has the order ${id}`)
  return find()
}
/** Coins from outside arrive at the treasury, as the bank or its operator sends them. */
const sendCoins = async (to: string, amount: bigint, token: 'USDC' | 'EURC' = 'USDC') =>
  harness.chain().send(to, amount * 1_000_000n, token)
/** A hash of no transaction. */
const strangeHash = () => `0x${randomBytes(32).toString('hex')}`
const refusal = async (answer: ReturnType<typeof report>) => {
  const { status, message } = await answer
  return [status, message]
}

let account: { id: string; treasury: string }

it('tells the bank of an account until it takes the order, and then forgets the number', async () => {
  bank.answer(503)
  const { id, status, trackingRef } = await call('POST', '/v1/businessAccount/banks/wires', usAccount)
  expect(status).toBe('pending')
  await until(() => bank.orders.length > 1, 'the order is sent again')
  const kept = () =>
    harness.database.one<{ sealedNumber: Buffer | null }>(
      sql`select sealed_number from bank_accounts where id = ${id}`,
    )
  expect((await kept()).sealedNumber?.toString()).not.toContain(usAccount.accountNumber)
  bank.answer(204)
  await until(async () => (await kept()).sealedNumber === null, 'the number is erased')
  const { accountNumber, routingNumber } = usAccount
  const order = await orderOf(id)
  expect(order).toMatchObject({
    type: 'account',
    entityId: harness.entityId,
    trackingRef,
    numbers: { accountNumber, routingNumber },
    deposits: { blockchain: 'BASE-SEPOLIA' },
  })
  account = { id, treasury: order.deposits.address }
  expect(await call('GET', `/v1/businessAccount/banks/wires/${id}/instructions`)).toMatchObject({
    trackingRef,
    beneficiaryBank: { accountNumber: '987654321' },
  })
  const earlier = await call('GET', `/v1/businessAccount/banks/wires/${id}`)
  expect(earlier.status).toBe('pending')
})

it.each([
  ['another secret', { secret: 'another secret, of more than 32 characters' }],
  ['the signature of an order', { direction: 'order' }],
  ['an old signature', { seconds: Math.floor(Date.now() / 1000) - 301 }],
  ['a signature of the future', { seconds: Math.floor(Date.now() / 1000) + 400 }],
  ['no signature', { header: '' }],
])('property 254: POST /bank/results refuses %s, and nothing changes', async (_, changes) => {
  const result = { type: 'account', id: account.id, status: 'complete' }
  expect(await report(result, changes)).toMatchObject({ status: 401, code: 401 })
  expect((await call('GET', `/v1/businessAccount/banks/wires/${account.id}`)).status).toBe('pending')
})

it.each([
  ['no type', { id: randomUUID() }, 400, 'type'],
  ['no id', { type: 'account', status: 'complete' }, 400, 'id'],
  ['an account that is returned', { type: 'account', id: randomUUID(), status: 'returned' }, 400, 'status'],
  ['an unknown account', { type: 'account', id: randomUUID(), status: 'complete' }, 404, ''],
  ['an unknown payout', { type: 'payout', id: randomUUID(), status: 'complete' }, 404, ''],
  [
    'coins that nothing brings',
    { type: 'payout', id: randomUUID(), status: 'failed' },
    400,
    'transactionHash',
  ],
  [
    'an unknown reason',
    { type: 'payout', id: randomUUID(), status: 'failed', errorCode: 'x' },
    400,
    'errorCode',
  ],
])('refuses a result with %s', async (_, result, status, at) => {
  const answer = await report(result)
  expect([answer.status, answer.message]).toEqual([status, expect.stringContaining(at)])
})

it('property 253: a deposit that is reported twice is credited once, with the coins that arrived', async () => {
  expect((await report({ type: 'account', id: account.id, status: 'complete' })).status).toBe(204)
  expect((await report({ type: 'account', id: account.id, status: 'complete' })).status).toBe(204)
  const turned = await report({ type: 'account', id: account.id, status: 'failed' })
  expect([turned.status, turned.code]).toEqual([409, 409])
  const transactionHash = await sendCoins(account.treasury, 50n)
  const deposit = { type: 'deposit', bankAccountId: account.id, amount: usd('50'), transactionHash }
  expect((await report({ ...deposit, reference: 'one' })).status).toBe(204)
  expect((await report({ ...deposit, reference: 'one' })).status).toBe(204)
  const contradictions = [
    { ...deposit, reference: 'one', amount: usd('51') },
    { ...deposit, reference: 'another' },
  ]
  for (const each of contradictions) expect((await report(each)).status).toBe(409)
  // A deposit without its coins is pending, however much it claims.
  const claimed = {
    ...deposit,
    amount: usd('900'),
    reference: 'claimed',
    transactionHash: strangeHash(),
  }
  expect((await report(claimed)).status).toBe(204)
  await until(async () => (await available()) === '50.00', 'the deposit is credited')
  const { body } = await harness.http('GET', '/v1/businessAccount/deposits')
  expect(body.data.map((each: Shown) => each.status)).toEqual(['pending', 'complete'])
  expect((await proveMoney(harness.database)).gaps).toEqual([])
})

it('property 253: a payout is ordered once its coins have left, and its money comes back with coins alone', async () => {
  const destination = { type: 'wire', id: account.id }
  const { id } = await call('POST', '/v1/businessAccount/payouts', { destination, amount: usd('20') })
  expect(await orderOf(id)).toMatchObject({ type: 'payout', bankAccountId: account.id, amount: usd('20.00') })
  const { oracle, tokens } = harness.chain()
  expect(await oracle.balanceOf(issuer, tokens.USDC)).toBe(20_000_000n)
  const failed = { type: 'payout', id, status: 'failed', errorCode: 'invalid_wire_rtn' }
  const [ours] = await oracle.transfers({ to: issuer, token: tokens.USDC })
  expect((await report({ ...failed, transactionHash: ours!.txHash })).status).toBe(409)
  const transactionHash = await sendCoins(account.treasury, 20n)
  for (let times = 0; times < 2; times++)
    expect((await report({ ...failed, transactionHash })).status).toBe(204)
  expect((await report({ type: 'payout', id, status: 'complete' })).status).toBe(409)
  expect(await shown(id)).toMatchObject({ status: 'failed', errorCode: 'invalid_wire_rtn' })
  await until(async () => (await available()) === '50.00', 'the money is back')
  await until(async () => (await proveMoney(harness.database)).gaps.length === 0, 'the coins back the money')
  await checkLedger(harness.database)
})

it('a payout that was complete is returned', async () => {
  const destination = { type: 'wire', id: account.id }
  const { id } = await call('POST', '/v1/businessAccount/payouts', { destination, amount: usd('7') })
  await orderOf(id)
  const done = { type: 'payout', id, status: 'complete', externalRef: 'IMAD1', trackingRef: 'OURS' }
  await until(async () => (await report(done)).status === 204, 'the result is taken')
  expect(await shown(id)).toMatchObject({ status: 'complete', externalRef: 'IMAD1', trackingRef: 'OURS' })
  const transactionHash = await sendCoins(account.treasury, 7n)
  const returned = { type: 'payout', id, status: 'returned', reason: 'No such account', transactionHash }
  expect((await report(returned)).status).toBe(204)
  expect(await shown(id)).toMatchObject({
    status: 'failed',
    errorCode: 'transaction_returned',
    return: { amount: usd('7.00'), reason: 'No such account' },
  })
  await until(async () => (await available()) === '50.00', 'the money is back')
  // The bank was told of each order under one id.
  expect(new Set(bank.orders.map((order) => order.id)).size).toBe(3)
})

it('property 253: a wrong transaction of a deposit is refused, or replaced until its coins have come', async () => {
  const deposit = { type: 'deposit', bankAccountId: account.id, amount: usd('3'), reference: 'corrected' }
  for (const transactionHash of ['the hash', '0x12', `0x${'zz'.repeat(32)}`])
    expect(await refusal(report({ ...deposit, transactionHash }))).toEqual([
      400,
      expect.stringContaining('0x and 64 hexadecimal digits'),
    ])
  // Euros are no dollars.
  const euros = await sendCoins(account.treasury, 3n, 'EURC')
  expect((await report({ ...deposit, transactionHash: euros })).status).toBe(204)
  await harness.chain().mine(3)
  const dollars = await sendCoins(account.treasury, 3n)
  const upper = `0x${dollars.slice(2).toUpperCase()}`
  expect(await available()).toBe('50.00')
  expect((await report({ ...deposit, transactionHash: upper })).status).toBe(204)
  await until(async () => (await available()) === '53.00', 'the deposit is credited')
  expect((await report({ ...deposit, transactionHash: dollars })).status).toBe(204)
  expect(await refusal(report({ ...deposit, transactionHash: euros }))).toEqual([
    409,
    expect.stringContaining('were credited'),
  ])
  await until(async () => (await proveMoney(harness.database)).gaps.length === 0, 'the coins back the money')
})

it('property 253: a wrong transaction of a return is replaced, and nothing else of a result is', async () => {
  const destination = { type: 'wire', id: account.id }
  const { id } = await call('POST', '/v1/businessAccount/payouts', { destination, amount: usd('4') })
  await orderOf(id)
  const failed = { type: 'payout', id, status: 'failed', errorCode: 'invalid_wire_rtn', externalRef: 'IMAD2' }
  await until(
    async () => (await report({ ...failed, transactionHash: strangeHash() })).status === 204,
    'the result is taken',
  )
  const transactionHash = await sendCoins(account.treasury, 4n)
  for (const changed of [
    { errorCode: 'transaction_denied' },
    { externalRef: 'IMAD3' },
    { trackingRef: 'OURS' },
  ])
    expect(await refusal(report({ ...failed, transactionHash, ...changed }))).toEqual([
      409,
      expect.stringContaining(Object.keys(changed)[0]!),
    ])
  expect(await available()).toBe('49.00')
  for (let times = 0; times < 2; times++)
    expect((await report({ ...failed, transactionHash })).status).toBe(204)
  await until(async () => (await available()) === '53.00', 'the money is back')
  expect((await report({ ...failed, transactionHash: strangeHash() })).status).toBe(409)
  await until(async () => (await proveMoney(harness.database)).gaps.length === 0, 'the coins back the money')
})

it('a payout that was complete and came back is returned, also where the server knows nothing of its end', async () => {
  const destination = { type: 'wire', id: account.id }
  const { id } = await call('POST', '/v1/businessAccount/payouts', { destination, amount: usd('6') })
  await orderOf(id)
  const transactionHash = await sendCoins(account.treasury, 6n)
  const returned = { type: 'payout', id, status: 'returned', transactionHash }
  expect((await report(returned)).status).toBe(204)
  expect((await report(returned)).status).toBe(204)
  expect(await shown(id)).toMatchObject({ status: 'failed', errorCode: 'transaction_returned' })
  await until(async () => (await available()) === '53.00', 'the money is back')
})

it('property 253: a deposit that is reported many times at once is taken once', async () => {
  const transactionHash = await sendCoins(account.treasury, 2n)
  const deposit = { type: 'deposit', bankAccountId: account.id, amount: usd('2'), reference: 'at once' }
  const answers = await Promise.all(Array.from({ length: 8 }, () => report({ ...deposit, transactionHash })))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 204))
  await until(async () => (await available()) === '55.00', 'the deposit is credited')
})

it('strangers wait for no connection of the database', async () => {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const { databaseConnectionsMax } = harness.ctx.config
  const busy = Array.from({ length: databaseConnectionsMax }, () =>
    harness.database.tx(async (tx) => {
      await tx.run(sql`select 1`)
      await released
    }),
  )
  try {
    const refused = await report({ type: 'account', id: account.id, status: 'complete' }, { header: '' })
    expect(refused.status).toBe(401)
  } finally {
    release()
    await Promise.all(busy)
  }
})

it('signatures have the real time, wherever the clock of a sandbox is', async () => {
  harness.clock.moveMs(3_600_000)
  const { id } = await call('POST', '/v1/businessAccount/banks/wires', usAccount)
  await orderOf(id)
  expect((await report({ type: 'account', id, status: 'complete' })).status).toBe(204)
})

it('without a bank there is no operation that takes results', async () => {
  const own = await openHarness({ engines: false })
  try {
    const answer = await bank.report(own.url, { type: 'account' })
    expect([answer.status, answer.code]).toEqual([404, 404])
  } finally {
    await own.close()
  }
})
