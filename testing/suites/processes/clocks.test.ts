/** Machines whose clocks are wrong: dates they write, and comparisons with the current time, use the time of the database. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { setPolicy } from '#custody/policy/index'
import { formatInstant } from '#lib/time'
import { sql } from '#runtime/db/db'
import { freshAddress, type Wallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import type { WorkerOptions } from '#testing/processes/worker-process'

/** Longer than a busy machine takes from one request to the next. */
const limitS = 600
const aheadMs = (limitS + 1) * 1_000
const hourMs = 3_600_000

let harness: Harness
let world: World
let wallet: Wallet
const workers: Worker[] = []

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  wallet = await world.fundedWallet()
  await harness.stopEngines()
})
afterAll(async () => {
  for (const worker of workers) worker.signal('SIGKILL')
  await harness?.close()
})

/** Starts a process on a machine whose clock is off; returns the address of its API, if it has one. */
async function startOff(options: Pick<WorkerOptions, 'roles' | 'hostOffMs' | 'sandbox'>) {
  const { connection } = harness
  const { rpcUrl, blockchain } = harness.chain()
  const worker = await spawnWorker()
  workers.push(worker)
  await worker.open({ connection, rpcUrl, blockchain, ...options })
  return { worker, url: await worker.start() }
}

it.each([aheadMs, -aheadMs])(
  'property 66: a server whose clock is wrong by %s ms refuses every request',
  async (hostOffMs) => {
    const { worker, url } = await startOff({ roles: ['api'], hostOffMs })
    const http = httpAs(url!, harness.apiKey)
    const answer = await http('GET', '/v1/w3s/wallets')
    expect([answer.status, answer.body.code], answer.text).toEqual([503, 503])
    expect(answer.body.message).toContain('clock')
    expect((await http('GET', '/ping')).status).toBe(200)
    await worker.close()
  },
)

it('property 66: a limit and the order of dates hold on a server that is ahead by more than the window of the limit', async () => {
  const { worker, url } = await startOff({ roles: ['api'], hostOffMs: aheadMs, sandbox: true })
  const ahead = httpAs(url!, harness.apiKey)
  const token = `BASE-SEPOLIA:${harness.chain().tokens.USDC.toLowerCase()}`
  const subject = { entityId: harness.entityId, scope: 'wallet', subjectId: wallet.id } as const
  await setPolicy({ db: harness.database, clock: harness.clock, actor: 'operator' }, subject, {
    mode: 'rules',
    operations: ['transfer'],
    tokens: [token],
    destinations: 'any',
    limits: [{ tokens: [token], windows: [{ seconds: limitS, amountAtomic: '1000000' }] }],
  })
  const spend = async (http: Harness['http']) =>
    http('POST', '/v1/w3s/developer/transactions/transfer', {
      body: {
        idempotencyKey: randomUUID(),
        entitySecretCiphertext: await harness.sealSecret(),
        walletId: wallet.id,
        tokenId: world.usdcId,
        destinationAddress: freshAddress(),
        amounts: ['1'],
        feeLevel: 'MEDIUM',
      },
    })
  const first = await spend(harness.http)
  expect(first.status, first.text).toBe(201)
  const second = await spend(ahead)
  expect(second.status, second.text).toBe(403)
  expect(second.body.message).toContain(`in ${limitS} s`)

  const dates: string[] = []
  for (const http of [harness.http, ahead, harness.http]) {
    const entitySecretCiphertext = await harness.sealSecret()
    const body = { idempotencyKey: randomUUID(), name: 'Dated', entitySecretCiphertext }
    const made = await http('POST', '/v1/w3s/developer/walletSets', { body })
    dates.push(made.body.data.walletSet.createDate)
  }
  expect(dates).toEqual(dates.toSorted())
  await worker.close()
})

it('property 66: an engine on a machine that is an hour ahead expires nothing early', async () => {
  const intent = async () =>
    world.call('POST', '/v1/paymentIntents', {
      idempotencyKey: randomUUID(),
      type: 'transient',
      amount: { amount: '1.00', currency: 'USD' },
      settlementCurrency: 'USD',
      paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
      expiresOn: formatInstant(harness.clock.nowMs() + hourMs / 2),
    })
  const [due, later] = [await intent(), await intent()]
  // A request for an intent that ends in a moment may come too late.
  await harness.database.run(sql`update payment_intents set expires_on = now() where id = ${due.id}`)
  const { worker } = await startOff({ roles: ['treasury'], hostOffMs: hourMs })
  const statusOf = async ({ id }: { id: string }) =>
    (await world.call('GET', `/v1/paymentIntents/${id}`)).timeline[0].status
  await until(async () => (await statusOf(due)) === 'expired', 'the first intent has ended')
  expect(await statusOf(later)).not.toBe('expired')
  await worker.close()
})
