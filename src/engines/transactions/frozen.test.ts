/** A worker that freezes for longer than its lease and then goes on: by then another worker has its work. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startIndexer } from '#engines/indexer/index'
import { sql } from '#runtime/db/db'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import { isDeep } from '#testing/runner/size'

/** Another worker has its work by then; the deep size waits for three leases. */
const stillMs = isDeep ? 9_000 : 0

let harness: Harness
let indexer: { stop(): Promise<void> }
const workers: Worker[] = []

beforeAll(async () => {
  harness = await openHarness({ engines: false })
  indexer = startIndexer(harness.ctx)
})
afterAll(async () => {
  for (const worker of workers) worker.signal('SIGKILL')
  await indexer?.stop()
  await harness?.close()
})

async function newWorker(): Promise<Worker> {
  const { connection } = harness
  const { rpcUrl, blockchain } = harness.chain()
  const worker = await spawnWorker()
  workers.push(worker)
  await worker.open({ connection, rpcUrl, blockchain, roles: ['transactions'] })
  await worker.start()
  return worker
}

const attempts = () =>
  harness.database.all(sql`select id, state, fencing_token, lease_until, last_error, broadcast_count from attempts
    order by nonce`)

it('property 33: a worker that lost its lease while frozen writes no stale results', async () => {
  const on = transferActions(harness)
  const chain = harness.chain()
  const wallet = await on.fundedWallet()
  await chain.setAutomine(false)
  const frozen = await newWorker()
  await frozen.arm({ point: 'before-send-record', hit: 1, action: 'stop' })
  const to = freshAddress()
  const id = await on.transfer(wallet, { destinationAddress: to })
  await until(async () => frozen.state() === 'frozen', 'it stands still after the answer of the node')
  expect((await on.attemptsOf(id)).map(({ state }) => state)).toEqual(['signed'])
  const frozenMs = performance.now()

  const other = await newWorker()
  await on.sent(id, 'original')
  other.signal('SIGKILL')
  await other.exited
  // Due work would be claimed again at once; after this, changes can only come from an earlier claim.
  await harness.database.run(sql`update attempts set lease_until = now() + interval '1 hour'`)
  const before = await attempts()
  await sleep(Math.max(0, stillMs - (performance.now() - frozenMs)))
  frozen.signal('SIGCONT')
  await until(async () => frozen.state() === 'running', 'it goes on')
  await sleep(1_500)
  expect(await attempts()).toEqual(before)

  await harness.database.run(sql`update attempts set lease_until = null`)
  await chain.setAutomine(true)
  await chain.mine()
  await on.reaches(id, 'COMPLETE')
  expect(await on.attemptsOf(id)).toHaveLength(1)
  await chain.oracle.checkMovedOnce([{ to, token: chain.tokens.USDC, amountAtomic: 500_000n }])
  await chain.oracle.checkNonces(wallet.address)
})
