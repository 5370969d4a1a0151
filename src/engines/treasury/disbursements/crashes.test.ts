import { randomInt } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startIndexer } from '#engines/indexer/index'
import { startTransactionWorker } from '#engines/transactions/index'
import { journaledResources } from '#engines/treasury/index'
import { sql } from '#runtime/db/db'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import { checkLedger } from '#testing/builders/ledger-checks'
import {
  freshAddress,
  fundMerchantWallet,
  makeActiveAddress,
  makeActiveRecipient,
  makeBusinessTransfer,
  makePayout,
  type World,
  worldOf,
} from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import { isDeep } from '#testing/runner/size'

const unit = 1_000_000n

let harness: Harness
let world: World
let payee: string
let engines: { stop(): Promise<void> }[] = []
const workers: Worker[] = []
let paid = 0n

beforeAll(async () => {
  harness = await openHarness()
  world = worldOf(harness)
  payee = freshAddress()
  const [recipient, own] = await Promise.all([
    makeActiveRecipient(world, { address: payee }),
    makeActiveAddress(world, { address: payee }),
  ])
  world = { ...world, payee: async () => recipient, ownAddress: async () => own }
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
})

/** Starts the treasury in a process: a closed one, or a new one. */
async function treasury(idle?: Worker, failpoint?: { point: Failpoint; hit: number }): Promise<Worker> {
  const { blockchain, rpcUrl } = harness.chain()
  const worker = idle ?? (await spawnWorker())
  if (!idle) workers.push(worker)
  const plan = failpoint && ({ ...failpoint, action: 'kill' } as const)
  await worker.open({
    connection: harness.connection,
    rpcUrl,
    blockchain,
    roles: ['treasury'],
    failpoint: plan,
  })
  await worker.start()
  return worker
}

const openCount = async () => {
  const row = await harness.database.one<{ open: number }>(sql`select
    (select count(*) from payouts where status = 'pending')
    + (select count(*) from transfers where status in ('pending', 'running'))
    + (select count(*) from sweeps where status = 'pending') as open`)
  return row.open
}

const coinsOf = async (purpose: string): Promise<bigint> => {
  const { oracle, tokens } = harness.chain()
  const rows = await harness.database.all<{ address: string }>(
    sql`select address from managed_addresses where purpose = ${purpose}`,
  )
  let sum = 0n
  for (const { address } of rows) sum += await oracle.balanceOf(address, tokens.USDC)
  return sum
}

/** Sweeps and payments reach the failpoints around their commit; the second hit may be of either. */
const deaths = [
  { point: 'before-screening', hit: 1 },
  { point: 'before-screening-record', hit: 2 },
  { point: 'before-treasury-commit', hit: 2 },
  { point: 'after-treasury-commit', hit: 1 },
  { point: 'after-treasury-commit', hit: 2 },
  { point: 'before-settlement-commit', hit: 1 },
  { point: 'after-settlement-commit', hit: 1 },
] as const
/** One death of the first half, and one of the second. */
const some = [deaths[randomInt(3)]!, deaths[3 + randomInt(4)]!]

it.each(isDeep ? deaths : some)(
  'property 1: payouts, transfers and sweeps move their coins once though their worker dies at $point, hit $hit',
  async ({ point, hit }) => {
    const sound = await treasury()
    // Two addresses, so that the paid amount must be swept from both.
    await fundMerchantWallet(world, 3n * unit)
    await fundMerchantWallet(world, 3n * unit)
    await sound.close()
    const doomed = await treasury(sound, { point, hit })
    const ids = [
      await makePayout(world, { amount: { amount: '4', currency: 'USD' } }),
      await makeBusinessTransfer(world, { amount: { amount: '1', currency: 'USD' } }),
      await makePayout(world, { amount: { amount: '1', currency: 'USD' } }),
    ].map(({ id }) => id)
    paid += 6n * unit
    await until(async () => doomed.state() === 'dead', `the worker has died at ${point}`)
    await treasury()
    await until(async () => (await openCount()) === 0, 'everything has ended')
    const failed = await harness.database.all(sql`select id from payouts where status = 'failed'
      union all select id from transfers where status = 'failed'`)
    expect(failed).toEqual([])
    const { oracle, tokens } = harness.chain()
    expect(await oracle.balanceOf(payee, tokens.USDC)).toBe(paid)
    expect((await coinsOf('treasury')) + (await coinsOf('deposit'))).toBe(0n)
    const { available } = await world.call('GET', '/v1/businessAccount/balances')
    expect(available).toEqual([{ amount: '0.00', currency: 'USD' }])
    // One event for each end, whichever process wrote it.
    const ends = await harness.database.all(sql`select 1 from events
      where resource_id = any(${ids}::text[]) and type in ('payout.complete', 'transfer.complete')`)
    expect(ends).toHaveLength(3)
    await checkLedger(harness.database)
  },
)
