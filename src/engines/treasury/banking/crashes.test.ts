import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startIndexer } from '#engines/indexer/index'
import { startTransactionWorker } from '#engines/transactions/index'
import { journaledResources } from '#engines/treasury/index'
import { proveMoney } from '#engines/treasury/reconciliation/index'
import { sql } from '#runtime/db/db'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import { usAccount } from '#testing/builders/bank-accounts'
import { checkLedger } from '#testing/builders/ledger-checks'
import { freshAddress } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import { openBank, type TestBank } from '#testing/servers/bank'

const issuer = freshAddress()
let harness: Harness
let bank: TestBank
let account: { id: string; treasury: string }
let engines: { stop(): Promise<void> }[] = []
const workers: Worker[] = []
/** Ends the claim of a process that died: it lasts for half a minute. */
const dueNow = sql`update redemptions set order_attempt_at = now()`
const usd = (amount: string) => ({ amount, currency: 'USD' })

const call = async (method: 'GET' | 'POST', path: string, body?: object) =>
  (await harness.http(method, path, body && { body: { idempotencyKey: randomUUID(), ...body } })).body.data
const report = (url: string, result: object) =>
  bank.report(url, { type: 'payout', entityId: harness.entityId, ...result })
const available = async () => (await call('GET', '/v1/businessAccount/balances')).available[0]?.amount
const ordersOf = (id: string) => bank.orders.filter((order) => order.id === id)

beforeAll(async () => {
  bank = await openBank('BASE-SEPOLIA', issuer)
  harness = await openHarness({ config: { bankRail: bank.setting } })
  const { id } = await call('POST', '/v1/businessAccount/banks/wires', usAccount)
  await until(() => ordersOf(id).length > 0, 'the account is ordered')
  account = { id, treasury: ordersOf(id)[0].deposits.address }
  await bank.report(harness.url, { type: 'account', entityId: harness.entityId, id, status: 'complete' })
  const beneficiaryBank = { accountNumber: '1' }
  const wire = { trackingRef: 'ANY', amount: usd('100'), beneficiaryBank }
  await harness.http('POST', '/v1/mocks/payments/wire', { body: wire })
  await until(async () => (await available()) === '100.00', 'the wire is credited')
  await harness.stopEngines()
  // The treasury alone runs in processes that die.
  engines = [startIndexer(harness.ctx), startTransactionWorker(harness.ctx, journaledResources)]
})
// A worker that survived a failure would do the work of the next one to be killed.
afterEach(() => {
  for (const worker of workers.splice(0)) worker.signal('SIGKILL')
})
afterAll(async () => {
  await Promise.all(engines.map((engine) => engine.stop()))
  await harness?.close()
  bank.close()
})

/** A process that dies at a failpoint, or at none. */
async function open(role: 'treasury' | 'api', point?: Failpoint): Promise<{ worker: Worker; url: string }> {
  const { blockchain, rpcUrl } = harness.chain()
  const worker = await spawnWorker()
  workers.push(worker)
  await worker.open({
    connection: harness.connection,
    rpcUrl,
    blockchain,
    roles: [role],
    failpoint: point && { point, hit: 1, action: 'kill' },
    settings: { bankRail: bank.setting },
  })
  return { worker, url: (await worker.start()) ?? '' }
}

const redeem = async (amount: string): Promise<string> =>
  (
    await call('POST', '/v1/businessAccount/payouts', {
      destination: { type: 'wire', id: account.id },
      amount: usd(amount),
    })
  ).id

const isDead = (worker: Worker, at: string) =>
  until(() => worker.state() === 'dead', `the process has died at ${at}`)

async function requireProof(): Promise<void> {
  await until(async () => (await proveMoney(harness.database)).gaps.length === 0, 'the coins back the money')
  await checkLedger(harness.database)
}

it.each(['after-order-record', 'after-order-answer'] as const)(
  'property 253: a payout whose worker dies %s has one order, under one id',
  async (point) => {
    const before = Number(await available())
    const doomed = await open('treasury', point)
    const id = await redeem('10')
    await isDead(doomed.worker, point)
    expect(ordersOf(id)).toHaveLength(point === 'after-order-record' ? 0 : 1)
    // Before the bank has taken it, it is pending; a bank that took it may have an answer already.
    expect((await call('GET', `/v1/businessAccount/payouts/${id}`)).status).toBe('pending')
    await harness.database.run(dueNow)
    await open('treasury')
    await until(() => ordersOf(id).length === (point === 'after-order-record' ? 1 : 2), 'it is ordered again')
    expect(new Set(ordersOf(id).map((order) => JSON.stringify(order))).size).toBe(1)
    expect((await report(harness.url, { id, status: 'complete' })).status).toBe(204)
    expect(Number(await available())).toBe(before - 10)
    const { oracle, tokens } = harness.chain()
    const moved = await oracle.transfers({ to: issuer, token: tokens.USDC })
    expect(moved.at(-1)?.amountAtomic).toBe(10_000_000n)
    await requireProof()
  },
)

it('property 253: a return whose process dies before it is recorded is credited once, when it is reported again', async () => {
  const before = Number(await available())
  const treasury = await open('treasury')
  const id = await redeem('5')
  await until(() => ordersOf(id).length > 0, 'it is ordered')
  const transactionHash = await harness.chain().send(account.treasury, 5_000_000n, 'USDC')
  const failed = { id, status: 'failed', transactionHash }
  const doomed = await open('api', 'before-result-commit')
  await expect(report(doomed.url, failed)).rejects.toThrow()
  await isDead(doomed.worker, 'before-result-commit')
  expect((await call('GET', `/v1/businessAccount/payouts/${id}`)).status).toBe('pending')
  for (let times = 0; times < 2; times++) expect((await report(harness.url, failed)).status).toBe(204)
  await harness.chain().mine()
  await until(async () => Number(await available()) === before, 'the money is back')
  await requireProof()
  await treasury.worker.close()
})
