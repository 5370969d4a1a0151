import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startIndexer } from '#engines/indexer/index'
import { startTransactionWorker } from '#engines/transactions/index'
import { journaledResources } from '#engines/treasury/index'
import { sql } from '#runtime/db/db'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import { checkLedger } from '#testing/builders/ledger-checks'
import { approveBatch, fileOf, rowsOf, uploadBatch } from '#testing/builders/payout-batches'
import {
  fundMerchantWallet,
  makeActiveRecipient,
  type Recipient,
  type World,
  worldOf,
} from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'

let harness: Harness
let world: World
let engines: { stop(): Promise<void> }[] = []
let payees: Recipient[]
const workers: Worker[] = []
beforeAll(async () => {
  harness = await openHarness({ config: { recipientHoldHours: 0 } })
  world = worldOf(harness)
  await fundMerchantWallet(world, 100_000_000n)
  payees = await Promise.all(Array.from({ length: 10 }, () => makeActiveRecipient(world)))
  await harness.stopEngines()
  // The treasury alone runs in processes that die.
  engines = [startIndexer(harness.ctx), startTransactionWorker(harness.ctx, journaledResources)]
})
afterEach(() => {
  for (const worker of workers.splice(0)) worker.signal('SIGKILL')
})
afterAll(async () => {
  await Promise.all(engines.map((engine) => engine.stop()))
  await harness?.close()
})

async function treasury(failpoint?: { point: Failpoint; hit: number }): Promise<Worker> {
  const { blockchain, rpcUrl } = harness.chain()
  const worker = await spawnWorker()
  workers.push(worker)
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

it.each(['before-batch-row-commit', 'after-batch-row-commit'] as const)(
  'property 257: each row of a batch is paid once though its worker dies at %s',
  async (point) => {
    const paid = payees.splice(0, 5)
    const batch = await uploadBatch(
      world,
      fileOf('recipient,amount,currency', ...paid.map(({ id }) => `${id},1.25,USD`)),
    )
    const doomed = await treasury({ point, hit: 3 })
    await approveBatch(world, batch)
    await until(async () => doomed.state() === 'dead', `the worker has died at ${point}`)
    const before = await world.call('GET', `/operator/payoutBatches/${batch.id}`)
    expect([before.state, before.createdCount]).toEqual([
      'approved',
      point === 'before-batch-row-commit' ? 2 : 3,
    ])
    await treasury()
    await until(
      async () =>
        (await rowsOf(world, batch.id)).every(({ payout }) => payout && payout.status !== 'pending'),
      'every payout has ended',
    )
    const { oracle, tokens } = harness.chain()
    for (const { address } of paid) expect(await oracle.balanceOf(address, tokens.USDC)).toBe(1_250_000n)
    const rows = await rowsOf(world, batch.id)
    expect(rows.map(({ payout }) => payout.status)).toEqual(Array(5).fill('complete'))
    const ends = await harness.database.all(sql`select 1 from events
      where resource_id = ${batch.id} and type = 'payoutBatch.complete'`)
    expect(ends).toHaveLength(1)
    await checkLedger(harness.database)
  },
)
