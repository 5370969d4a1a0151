import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { checkLedger } from '#testing/builders/ledger-checks'
import {
  freshAddress,
  fundMerchantWallet,
  makeActiveAddress,
  makeActiveRecipient,
  type World,
  worldOf,
} from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import { isDeep, sizeOf } from '#testing/runner/size'

const rounds = sizeOf('RACE_ROUNDS', { usual: 1, deep: 10 })
/** Number of API processes, that of the harness included. */
const apiProcesses = isDeep ? 5 : 2
/** Number of payments of 1 that the balance allows; twice as many are requested. */
const payable = isDeep ? 100 : 16
const unit = 1_000_000n

let harness: Harness
let world: World
let workers: Worker[] = []
let urls: string[] = []
beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  const { blockchain, rpcUrl } = harness.chain()
  workers = await Promise.all(Array.from({ length: apiProcesses - 1 }, () => spawnWorker()))
  const others = await Promise.all(
    workers.map(async (worker) => {
      await worker.open({ connection: harness.connection, rpcUrl, blockchain, roles: ['api'] })
      return (await worker.start())!
    }),
  )
  urls = [harness.url, ...others]
})
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.close()))
  for (const worker of workers) worker.signal('SIGKILL')
  await harness?.close()
})

type Ask = { path: string; body: object }

/** Answers of a busy machine, which ask to send the request again with its key. */
const tooBusy = [408, 429, 503]

/** Sends all at once, divided among the processes, and again where the machine was too busy. */
const race = (asks: readonly Ask[]) =>
  Promise.all(
    asks.map(async ({ path, body }, index) => {
      const text = JSON.stringify({ idempotencyKey: randomUUID(), ...body })
      const send = () =>
        fetch(`${urls[index % urls.length]}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${harness.apiKey}`, 'content-type': 'application/json' },
          body: text,
        })
      let response = await send()
      while (tooBusy.includes(response.status)) response = await send()
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

/**
 * Requests of 1, twice as many as the balance allows; resolves with the paths of the accepted ones, once all are on
 * chain.
 */
async function drain(asks: readonly Ask[], refusals: readonly number[]): Promise<string[]> {
  await fundMerchantWallet(world, BigInt(payable) * unit)
  expect(await spendable()).toBe(`${payable}.00`)
  const answers = await race(asks)
  const accepted = answers.filter(({ status }) => status === 201)
  const refused = answers.filter(({ status }) => status !== 201)
  expect(accepted).toHaveLength(payable)
  for (const { status, code } of refused) expect([status, refusals.includes(code)]).toEqual([400, true])
  expect(await spendable()).toBe('0.00')
  await until(async () => {
    const row = await harness.database.one<{ open: number }>(sql`select
      (select count(*) from payouts where status = 'pending')
      + (select count(*) from transfers where status in ('pending', 'running')) as open`)
    return row.open === 0
  }, 'all are paid')
  expect(
    await harness.database.all(sql`select error_code from payouts where status = 'failed'
      union all select error_code from transfers where status = 'failed'`),
  ).toEqual([])
  return accepted.map(({ path }) => path)
}

it(`property 5: ${2 * payable} payouts at once from a balance of ${payable} over ${apiProcesses} API processes: exactly ${payable}, each time`, async () => {
  for (let round = 1; round <= rounds; round += 1) {
    const address = freshAddress()
    const { id } = await makeActiveRecipient(world, { address })
    const body = { destination: { type: 'address_book', id }, amount: one }
    await drain(
      Array.from({ length: 2 * payable }, () => ({ path: '/v1/payouts', body })),
      [5006],
    )
    const { oracle, tokens } = harness.chain()
    const moved = await oracle.transfers({ to: address, token: tokens.USDC })
    expect(moved.map(({ amountAtomic }) => amountAtomic)).toEqual(Array(payable).fill(unit))
    await checkLedger(harness.database)
  }
})

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
    // Alternates the kind after one request for each process: each process gets both kinds, whichever is faster.
    const kindOf = (index: number) => (Math.floor(index / urls.length) % 2 ? payout : transfer)
    const asks = Array.from({ length: 2 * payable }, (_, index) => kindOf(index))
    const accepted = await drain(asks, [5006, 1093])
    // Both kinds were accepted.
    expect(new Set(accepted).size).toBe(2)
    const { oracle, tokens } = harness.chain()
    expect(await oracle.balanceOf(address, tokens.USDC)).toBe(BigInt(payable) * unit)
    await checkLedger(harness.database)
  }
})
