import { afterAll, beforeAll, expect, it } from 'vitest'
import { hasProcessedSteps } from '#engines/indexer/index'
import { sql } from '#runtime/db/db'
import type { FailpointPlan } from '#runtime/scheduling/failpoints'
import { sandboxEntity } from '#sandbox/credentials'
import { checkLedger } from '#testing/builders/ledger-checks'
import { startTestChains, type TestChain } from '#testing/platform/chain'
import {
  blockchain,
  chainTransfers,
  indexedTransfers,
  openTestIndexer,
  type TestIndexer,
  untilIndexed,
} from '#testing/platform/test-indexer'
import { until } from '#testing/platform/until'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import { isDeep } from '#testing/runner/size'
import { openDepositAddress } from '../deposit-addresses/open-deposit-address.ts'

let chain: TestChain
/** Never started here: the processes to be killed follow the chain. */
let indexing: TestIndexer
let stopChains: () => Promise<void>
let address: string
const workers: Worker[] = []
const deposits = isDeep ? 30 : 8
const hits = isDeep ? [1, 20, 35] : [1, 12]

beforeAll(async () => {
  const started = await startTestChains({ blockchains: [blockchain] })
  stopChains = started.stop
  chain = started.chains[0]!
  indexing = await openTestIndexer({ rpcUrl: chain.rpcUrl })
  const by = { entityId: sandboxEntity.id, actor: 'test', requestId: 'test' }
  const place = { chain: 'BASE', blockchain, currency: 'USD', family: 'evm' } as const
  const open = () =>
    indexing.database.tx((tx) => openDepositAddress({ ...indexing.ctx, db: tx }, { ...by, ...place }))
  address = (await open()).address
})
afterAll(async () => {
  for (const worker of workers) worker.signal('SIGKILL')
  await indexing.close()
  await stopChains()
})

/** Starts a process that follows the chain and turns its blocks into transfers, until it reaches the failpoint. */
async function follow(failpoint?: FailpointPlan): Promise<Worker> {
  const worker = await spawnWorker()
  workers.push(worker)
  const { connection } = indexing
  const roles = ['indexer', 'treasury'] as const
  await worker.open({ connection, rpcUrl: chain.rpcUrl, blockchain, roles, failpoint })
  await worker.start()
  return worker
}

const dieAt = (point: 'before-cursor-advance' | 'during-block-rollback', hit: number) =>
  follow({ point, hit, action: 'kill' })

async function followed(): Promise<void> {
  await untilIndexed(indexing, chain.rpcUrl)
  await until(() => hasProcessedSteps(indexing.database, 'treasury', blockchain), 'the treasury has followed')
}

async function sendMany(count: number): Promise<void> {
  for (let amount = 1; amount <= count; amount++) {
    await chain.send(address, BigInt(amount), 'USDC')
    await chain.mine()
  }
}

it('property 23: records each deposit as one transfer although processes die between block and cursor, or while reverting a block', async () => {
  await sendMany(deposits)
  for (const hit of hits) await (await dieAt('before-cursor-advance', hit)).exited
  const victim = await dieAt('during-block-rollback', 2)
  await followed()
  // Removes blocks with deposits permanently, and adds other deposits in place of them.
  await chain.reorg(5)
  await sendMany(3)
  await victim.exited
  await sendMany(3)
  const last = await follow()
  await chain.mine(20)
  await followed()
  await last.close()
  const undone = await indexing.database.all(sql`select 1 from block_steps where kind = 'undone'`)
  expect(undone.length).toBeGreaterThanOrEqual(5)
  const arrived = await chainTransfers(chain.oracle, address)
  expect(await indexedTransfers(indexing.database, address)).toEqual(arrived)
  const transfers =
    await indexing.database.all(sql`select transaction_hash as tx_hash, amount as amount_atomic
    from transfers where status = 'complete' order by block_number, ordinal`)
  expect(transfers).toEqual(arrived.map(({ txHash, amountAtomic }) => ({ txHash, amountAtomic })))
  await checkLedger(indexing.database)
})
