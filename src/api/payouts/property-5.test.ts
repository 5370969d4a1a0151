import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { checkBooks } from '../../../testing/books.ts'
import {
  freshAddress,
  makeActiveAddress,
  makeActiveRecipient,
  makeMoney,
  until,
  type World,
  worldOf,
} from '../../../testing/builders.ts'
import { type Harness, openHarness } from '../../../testing/harness.ts'
import { startWorker, type Worker } from '../../../testing/worker.ts'

/** The bar is 50. */
const rounds = Number(process.env['RACE_ROUNDS'] ?? 2)
const apiProcesses = 4
const unit = 1_000_000n

let harness: Harness
let world: World
let workers: Worker[] = []
let urls: string[] = []
beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  const { blockchain, rpcUrl } = harness.chain()
  workers = await Promise.all(Array.from({ length: apiProcesses }, () => startWorker()))
  urls = await Promise.all(
    workers.map(async (worker) => {
      await worker.open({ connection: harness.connection, rpcUrl, blockchain, roles: ['api'] })
      return (await worker.start())!
    }),
  )
}, 60_000)
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.close()))
  for (const worker of workers) worker.signal('SIGKILL')
  await harness?.close()
}, 60_000)

type Ask = { path: string; body: object }

/** Sends all at once, each process its share. */
const race = (asks: readonly Ask[]) =>
  Promise.all(
    asks.map(async ({ path, body }, index) => {
      const response = await fetch(`${urls[index % urls.length]}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${harness.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ idempotencyKey: randomUUID(), ...body }),
      })
      // biome-ignore lint/suspicious/noExplicitAny: answers are examined member by member
      const answer = (await response.json()) as any
      return { path, status: response.status, code: answer.code, id: answer.data?.id as string | undefined }
    }),
  )

const spendable = async () => {
  const { available } = await world.call('GET', '/v1/businessAccount/balances')
  return available.find(({ currency }: { currency: string }) => currency === 'USD')?.amount
}

const one = { amount: '1', currency: 'USD' }

/** 200 requests of 1 for a balance of 100; resolves with what was accepted, once all of it is on chain. */
async function drain(asks: readonly Ask[], refusals: readonly number[]): Promise<string[]> {
  await makeMoney(world, 100n * unit)
  expect(await spendable()).toBe('100.00')
  const answers = await race(asks)
  const accepted = answers.filter(({ status }) => status === 201)
  const refused = answers.filter(({ status }) => status !== 201)
  expect(accepted).toHaveLength(100)
  for (const { status, code } of refused) expect([status, refusals.includes(code)]).toEqual([400, true])
  expect(await spendable()).toBe('0.00')
  await until(
    async () => {
      const row = await harness.database.one<{ open: number }>(sql`select
      (select count(*) from payouts where status = 'pending')
      + (select count(*) from transfers where status in ('pending', 'running')) as open`)
      return row.open === 0
    },
    'all are paid',
    120_000,
  )
  return accepted.map(({ path }) => path)
}

it(`property 5: 200 payouts at once from a balance of 100 over ${apiProcesses} API processes: exactly 100, each time`, async () => {
  for (let round = 1; round <= rounds; round += 1) {
    const address = freshAddress()
    const { id } = await makeActiveRecipient(world, { address })
    const body = { destination: { type: 'address_book', id }, amount: one }
    await drain(
      Array.from({ length: 200 }, () => ({ path: '/v1/payouts', body })),
      [5006],
    )
    const { oracle, tokens } = harness.chain()
    const moved = await oracle.transfers({ to: address, token: tokens.USDC })
    expect(moved.map(({ amountAtomic }) => amountAtomic)).toEqual(Array(100).fill(unit))
    await checkBooks(harness.database)
  }
}, 900_000)

it('property 5: payouts and transfers that draw on one balance take exactly what it holds', async () => {
  for (let round = 1; round <= rounds; round += 1) {
    const address = freshAddress()
    const [recipient, own] = await Promise.all([
      makeActiveRecipient(world, { address }),
      makeActiveAddress(world, { address }),
    ])
    const payout = {
      path: '/v1/payouts',
      body: { destination: { type: 'address_book', id: recipient.id }, amount: one },
    }
    const transfer = {
      path: '/v1/businessAccount/transfers',
      body: { destination: { type: 'verified_blockchain', addressId: own.id }, amount: one },
    }
    const asks = Array.from({ length: 200 }, (_, index) => (index % 2 ? payout : transfer))
    const accepted = await drain(asks, [5006, 1093])
    // Both ways had their part.
    expect(new Set(accepted).size).toBe(2)
    const { oracle, tokens } = harness.chain()
    expect(await oracle.balanceOf(address, tokens.USDC)).toBe(100n * unit)
    await checkBooks(harness.database)
  }
}, 900_000)
