/**
 * Coins are neither made nor lost across both systems, whatever users do in whatever order, whatever blocks the chains replace,
 * and wherever the server dies. The chains tell: the supply, and the balances of the contracts.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { proveUnifiedBalances } from '#engines/unified-balance/index'
import { sql } from '#runtime/db/db'
import {
  type IdleWorkers,
  openIdleWorkers,
  openWorkerPool,
  type WorkerPool,
} from '#testing/adversary/worker-pool'
import { crosschainMessages } from '#testing/builders/burns'
import { type Act, deadlyPoints, depositors, openActors } from '#testing/builders/crosschain-acts'
import { people, type UnifiedBalances, unifiedBalances, wallet } from '#testing/builders/unified-balances'
import { type Harness, openHarness } from '#testing/platform/harness'
import { type Http, httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { programFile } from '#testing/processes/programs'
import { sizeOf } from '#testing/runner/size'

const runs = sizeOf('CROSSCHAIN_RUNS', { usual: 6, deep: 1_000 })
const seed = process.env['CROSSCHAIN_SEED']

let harness: Harness
let unified: UnifiedBalances
let idleWorkers: IdleWorkers
let pool: WorkerPool
let actors: ReturnType<typeof openActors>
let supplyBefore: bigint

beforeAll(async () => {
  harness = await openHarness({ blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI', 'OP-SEPOLIA'], engines: false })
  const [first, ...others] = harness.chains
  idleWorkers = openIdleWorkers([await programFile('worker')])
  pool = openWorkerPool({
    idleWorkers,
    platform: {
      connection: harness.connection,
      blockchain: first!.blockchain,
      rpcUrl: first!.rpcUrl,
      others: others.map(({ blockchain, rpcUrl }) => ({ blockchain, rpcUrl })),
      logLevel: 'error',
    },
    roles: [['api', 'indexer', 'transactions', 'attestation', 'unified-balance']],
    restartMs: 20,
  })
  const served = { ...harness, http: asServed }
  unified = unifiedBalances(served)
  actors = openActors({ chains: harness.chains, messages: crosschainMessages(served), unified, pool })
  // The first payment of each chain mints for the outsider.
  for (const chain of harness.chains) await unified.pay(chain, people[7]!.address, 1n)
  supplyBefore = await supply()
})
afterAll(async () => {
  idleWorkers?.killAll()
  await harness?.close()
})

/** Asks the server that dies, again after each death, as clients do. */
const asServed: Http = async (...request) => {
  let answer: Awaited<ReturnType<Http>> | undefined
  await until(async () => {
    const url = pool.slots[0]!.url()
    answer = url === undefined ? undefined : await httpAs(url, undefined)(...request).catch(() => undefined)
    return answer !== undefined
  }, 'the server answers')
  return answer!
}

const supply = async () => {
  let sum = 0n
  for (const chain of harness.chains) sum += await unified.supply(chain)
  return sum
}

const index = fc.integer({ min: 0, max: 2 })
const place = { from: index, amount: fc.bigInt({ min: 1n, max: 5_000_000n }) }
const kind = <Kind extends string>(name: Kind) => fc.constant(name)
const [yes, hit] = [fc.boolean(), fc.integer({ min: 1, max: 3 })]
const death = fc.record({ kind: kind('die'), point: fc.constantFrom(...deadlyPoints), hit })
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: kind('burn'), ...place, fast: yes, forwards: yes, deliver: yes }),
  },
  { weight: 3, arbitrary: fc.record({ kind: kind('deposit'), who: index, ...place }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: kind('spend'), who: index, ...place, both: yes, mint: yes, twice: yes }),
  },
  { weight: 1, arbitrary: fc.record({ kind: kind('withdraw'), who: index, ...place }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('endWithdrawal'), who: index, ...place }) },
  { weight: 4, arbitrary: fc.record({ kind: kind('reorg'), on: index, depth: hit }) },
  { weight: 1, arbitrary: death },
)
const lists = fc
  .tuple(death, fc.array(act, { minLength: 5, maxLength: 12 }))
  .map(([first, rest]): Act[] => [first, ...rest])

/** The amount that the contract must have available: the balance, and what transfers that are not minted reserve of it. */
const countedFor = async (blockchain: string, depositor: string): Promise<bigint> =>
  (
    await harness.database.one<{ sum: bigint }>(sql`select
      coalesce((select available - overdrawn from unified_balances
        where blockchain = ${blockchain} and depositor = ${depositor.toLowerCase()}), 0)
      + coalesce((select sum(value + fee) from unified_intents where state = 'reserved'
        and blockchain = ${blockchain} and depositor = ${depositor.toLowerCase()}), 0) as sum`)
  ).sum

/** Waits until all blocks are followed and all that is minted is burned. */
async function settle(): Promise<void> {
  // A further block is followed after those that a reorg replaced below it.
  for (const chain of harness.chains) await chain.mine(1)
  await until(async () => {
    for (const chain of harness.chains) {
      const row = await harness.database.maybe<{ followed: number }>(
        sql`select followed from unified_heights where blockchain = ${chain.blockchain}`,
      )
      if ((row?.followed ?? -1) < (await chain.height())) return false
    }
    const { waits } = await harness.database.one<{ waits: boolean }>(
      sql`select exists (select 1 from unified_burns where state <> 'done')
        or exists (select 1 from unified_intents i join unified_mints using (spec_hash) where i.state = 'reserved') as waits`,
    )
    return !waits
  }, 'all is burned')
}

it(`property 11: ${runs} histories of burns, deposits, transfers, withdrawals, reorgs and deaths neither make nor lose a base unit`, async () => {
  const one = async (list: Act[]) => {
    for (const each of list) await actors.perform(each)
    await pool.endFaults()
    await actors.deliverAll()
    await settle()
    const { chains, errors } = await proveUnifiedBalances({ ...harness.ctx, db: harness.database })
    expect(errors).toEqual([])
    expect(chains.map(({ heldAtomic }) => heldAtomic)).toEqual(chains.map(({ bookedAtomic }) => bookedAtomic))
    expect(chains.reduce((sum, { unburnedAtomic }) => sum + unburnedAtomic, 0n)).toBe(0n)
    for (const { address } of depositors)
      for (const chain of harness.chains)
        expect(await unified.read(chain, wallet, 'availableBalance', [chain.tokens.USDC, address])).toBe(
          await countedFor(chain.blockchain, address),
        )
    // All that was burned is minted, and the other way round.
    expect(await supply()).toBe(supplyBefore)
  }
  await Promise.race([
    pool.failed,
    fc.assert(fc.asyncProperty(lists, one), {
      numRuns: runs,
      endOnFailure: true,
      ...(seed && { seed: Number(seed) }),
    }),
  ])
  expect(pool.counts.deaths).toBeGreaterThanOrEqual(Math.floor(runs / 10))
}, 14_400_000)
