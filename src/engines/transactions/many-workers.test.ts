/** One wallet, many transfers, several worker processes: the nonces are those that one worker alone would assign. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startIndexer } from '#engines/indexer/index'
import { sql } from '#runtime/db/db'
import { transferActions } from '#testing/builders/transfers'
import { freshAddress } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import { isDeep, sizeOf } from '#testing/runner/size'

/** 1,000 through four workers is the deep size; every change runs this many. */
const transfersTotal = sizeOf('NONCE_TRANSFERS', { usual: 30, deep: 1_000 })
const workersTotal = isDeep ? 4 : 2

let harness: Harness
let indexer: { stop(): Promise<void> }
const workers: Worker[] = []

beforeAll(async () => {
  harness = await openHarness({ engines: false, blockTimeMs: 300 })
  indexer = startIndexer(harness.ctx)
})
afterAll(async () => {
  for (const worker of workers) worker.signal('SIGKILL')
  await indexer?.stop()
  await harness?.close()
})

it(`property 16: ${transfersTotal} transfers through ${workersTotal} workers use contiguous nonces, one for each transfer`, async () => {
  const on = transferActions(harness)
  const chain = harness.chain()
  const wallet = await on.fundedWallet({ usdc: '1000', native: '100' })
  const { connection } = harness
  const { rpcUrl, blockchain } = chain
  for (let index = 0; index < workersTotal; index++) {
    const worker = await spawnWorker()
    workers.push(worker)
    await worker.open({ connection, rpcUrl, blockchain, roles: ['transactions'] })
  }
  await Promise.all(workers.map((worker) => worker.start()))
  const orders = Array.from({ length: transfersTotal }, (_, index) => ({ to: freshAddress(), index }))
  for (let from = 0; from < orders.length; from += 25)
    await Promise.all(
      orders.slice(from, from + 25).map(({ to, index }) => {
        const amounts = [`0.${String(index + 1).padStart(6, '0')}`]
        return on.transfer(wallet, { destinationAddress: to, amounts })
      }),
    )
  await until(async () => {
    const { open } = await harness.database.one<{
      open: number
    }>(sql`select count(*) as open from transactions
        where transaction_type = 'OUTBOUND' and state <> 'COMPLETE'`)
    return open === 0
  }, 'every transfer is complete')
  await chain.oracle.checkNonces(wallet.address)
  expect(await chain.oracle.transactions(wallet.address)).toHaveLength(transfersTotal)
  await chain.oracle.checkMovedOnce(
    orders.map(({ to, index }) => ({
      from: wallet.address,
      to,
      token: chain.tokens.USDC,
      amountAtomic: BigInt(index + 1),
    })),
  )
  const nonces = await harness.database.all<{ nonce: number; intents: number }>(
    sql`select nonce, count(distinct transaction_id) as intents from attempts group by nonce order by nonce`,
  )
  expect(nonces).toEqual(Array.from({ length: transfersTotal }, (_, nonce) => ({ nonce, intents: 1 })))
})
