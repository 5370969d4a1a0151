import { randomInt } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startIndexer } from '#engines/indexer/index'
import { startTransactionWorker } from '#engines/transactions/index'
import { journaledResources } from '#engines/treasury/index'
import { sql } from '#runtime/db/db'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import { checkLedger } from '#testing/builders/ledger-checks'
import { rebalancingsOf } from '#testing/builders/rebalancings'
import { fundMerchantWallet, type Recipient, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { spawnWorker } from '#testing/processes/programs'
import type { Worker } from '#testing/processes/worker'
import { isDeep } from '#testing/runner/size'

const unit = 1_000_000n

/** The record, the allowance and the burn reach the first two failpoints in this order. */
const deaths = [
  ...[1, 2, 3].flatMap((hit) => [
    { point: 'before-rebalancing-commit' as const, hit },
    { point: 'after-rebalancing-commit' as const, hit },
  ]),
  { point: 'before-mint-commit' as const, hit: 1 },
  { point: 'after-mint-commit' as const, hit: 1 },
]
/** One death before the burn is recorded, and one later. */
const some = [deaths[randomInt(4)]!, deaths[4 + randomInt(4)]!]
const chosen = isDeep ? deaths : some

let harness: Harness
let world: World
let own: ReturnType<typeof rebalancingsOf>
const payees: Recipient[] = []
let engines: { stop(): Promise<void> }[] = []
const workers: Worker[] = []
let funded = 0n
let paid = 0n

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'ETH-SEPOLIA'] })
  world = worldOf(harness)
  own = rebalancingsOf(world)
  await own.allow()
  await fundMerchantWallet(world, 50n * unit, 'ETH')
  funded = 50n * unit
  for (const _ of chosen) payees.push(await own.payee())
  await harness.stopEngines()
  // Treasury and attester alone run in processes that die.
  engines = [startIndexer(harness.ctx), startTransactionWorker(harness.ctx, journaledResources)]
})
afterEach(() => {
  for (const worker of workers.splice(0)) worker.signal('SIGKILL')
})
afterAll(async () => {
  await Promise.all(engines.map((engine) => engine.stop()))
  await harness?.close()
})

async function start(failpoint?: { point: Failpoint; hit: number }): Promise<Worker> {
  const worker = await spawnWorker()
  workers.push(worker)
  await worker.open({
    connection: harness.connection,
    blockchain: own.base.blockchain,
    rpcUrl: own.base.rpcUrl,
    others: [own.ethereum],
    roles: ['treasury', 'attestation'],
    failpoint: failpoint && { ...failpoint, action: 'kill' },
  })
  await worker.start()
  return worker
}

it.each(chosen)(
  'property 95: coins are moved once although the process dies at $point, hit $hit',
  async ({ point, hit }) => {
    const before = (await own.rows()).length
    const doomed = await start({ point, hit })
    const { id, address } = await own.payTo(payees.pop()!, '3')
    paid += 3n * unit
    await doomed.exited
    await start()
    expect(await own.ended(id)).toMatchObject({ status: 'complete' })
    expect(await own.usdcOf(own.base, address)).toBe(3n * unit)
    await own.allArrived()
    const rows = await own.rows()
    expect(rows).toHaveLength(before + 1)
    expect(rows.at(-1)).toMatchObject({ status: 'complete', amount: 3n * unit })
    // One allowance, one burn and one mint, whichever process recorded them.
    const { sent } = await harness.database.one<{ sent: number }>(
      sql`select count(*)::integer as sent from transactions where ref_id = ${`rebalancing ${rows.at(-1)!.id}`}`,
    )
    expect(sent).toBe(3)
    expect((await own.treasuryCoins(own.ethereum)) + (await own.treasuryCoins(own.base))).toBe(funded - paid)
    await checkLedger(harness.database)
  },
)
