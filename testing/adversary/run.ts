import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { canonicalAddress } from '#chains/addresses/canonical'
import { aptosTestnet } from '#chains/networks/aptos-testnet'
import { solDevnet } from '#chains/networks/sol-devnet'
import { type Database, openDatabase, sql } from '#runtime/db/db'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import { cloneOf } from '#testing/databases/database-clone'
import { until } from '#testing/platform/until'
import { openBuyerLoad } from './buyer-load.ts'
import { type ClientLoad, openClientLoad } from './client-load.ts'
import { type RunNode, startRunNode } from './run-node.ts'
import type { Schedule, ScheduledFault } from './schedule.ts'
import { blockchain, type SeededDatabase } from './seeded-database.ts'
import { defectsOf, unfinished, unfollowed } from './verdict.ts'
import { wrongPayments } from './verdict-on-payments.ts'
import { type IdleWorkers, openWorkerPool, type WorkerPool } from './worker-pool.ts'

export type RunResult = {
  seed: number
  point: Failpoint
  /** Number of armed processes that reached the failpoint. */
  reached: number
  deaths: number
  freezes: number
  accepted: number
  /** Number of payments by x402, and of those that were delivered. */
  payments: number
  delivered: number
  /** Time from the start to the last fault, and from there until all transfers had ended. */
  faultsMs: number
  settledMs: number
  defects: string[]
}

const settleWithinMs = 200_000
/** Longer than any run takes on a busy machine. */
const hungAfterMs = 600_000
/** Time after which a client cancels a transfer that makes no progress. */
const patienceMs = 5_000

/** Settings that all runs share. */
export type SharedResources = { seededDatabase: SeededDatabase; idleWorkers: IdleWorkers }

/** Runs one schedule from an empty chain to the verdict. */
export async function runSchedule(
  { seededDatabase, idleWorkers }: SharedResources,
  schedule: Schedule,
): Promise<RunResult> {
  const { seed, point, plans, restartMs, transfers, payments, faults } = schedule
  const { runServer, template, wallets } = seededDatabase
  const [node, clone] = await Promise.all([startRunNode(seededDatabase), cloneOf(runServer, template)])
  const database = openDatabase(clone.connection, 2)
  const dataDir = await mkdtemp(join(tmpdir(), 'bezant-adversary-'))
  const platform = { connection: clone.connection, dataDir, ...chainsOf(node) }
  const pool = openWorkerPool({ idleWorkers, platform, roles: rolesOf(schedule), restartMs })
  const startedMs = performance.now()
  const defects: string[] = []
  const load = openClientLoad(seededDatabase, pool.slots)
  const buyerLoad = openBuyerLoad(node, pool.slots)
  let faultsMs = 0
  let settledMs = 0
  let doing = ''
  const act = async () => {
    doing = 'funding the wallets'
    await untilFunded(database, seededDatabase)
    doing = 'arming the workers'
    await pool.arm(plans)
    await node.mineEvery(schedule.blockTimeMs)
    doing = 'requesting transfers and injecting faults'
    await Promise.all([
      Promise.all([load.submitAll(transfers), buyerLoad.payAll(payments)]).then(
        () => (doing = 'injecting faults'),
      ),
      injectFaults(node, pool, faults).then(() => (doing = 'requesting transfers')),
    ])
    doing = 'resuming and replacing the workers'
    for (const each of [node.aptos, node.solana]) each.settle()
    await pool.endFaults()
    faultsMs = performance.now() - startedMs
    doing = 'waiting for the end of all transfers'
    const left = await untilEnded(database, node, load)
    settledMs = performance.now() - startedMs - faultsMs
    if (left) defects.push(`${notTerminal(left)}; ${await lagOf(database, node)}`)
    doing = 'waiting until no block of a transfer can be rewound'
    defects.push(...(await followToTheEnd(database, node)))
    doing = 'comparing with the chain'
    const found = await defectsOf(database, node, wallets, load.accepted, load.refused)
    const wrong = await wrongPayments(database, node.chain.oracle, buyerLoad.asked, schedule)
    defects.push(...load.defects, ...found, ...wrong)
    doing = 'stopping the workers'
    await pool.stop()
  }
  const overtime = new AbortController()
  try {
    const state = async () => `${doing} (workers: ${pool.states()}; the node ${await stateOf(node)})`
    await Promise.race([act(), pool.failed, hung(state, overtime.signal)])
  } catch (error) {
    defects.push(String((error as Error).stack ?? error))
    pool.killAll()
  }
  overtime.abort()
  await node.stop()
  await database.close()
  await clone.drop()
  await rm(dataDir, { recursive: true, force: true })
  const { reached, deaths, freezes } = pool.counts
  const accepted = load.accepted.length
  const delivered = buyerLoad.asked.filter((each) => each.delivered.length > 0).length
  const counted = { accepted, payments: buyerLoad.asked.length, delivered }
  return { seed, point, reached, deaths, freezes, ...counted, faultsMs, settledMs, defects }
}

/** The chains of a run, as its workers connect to them. */
function chainsOf({ chain, aptos, solana }: RunNode) {
  const others = [
    { blockchain: aptosTestnet.blockchain, rpcUrl: aptos.node.url },
    { blockchain: solDevnet.blockchain, rpcUrl: solana.node.url },
  ]
  return { blockchain, rpcUrl: chain.rpcUrl, others } as const
}

/** The roles of each process. An API costs as much as the others: one is enough unless the failpoint is in it. */
const rolesOf = ({ plans, point }: Schedule) =>
  plans.map((_, index) => (index === 0 || isIntake(point) ? [...engines, 'api' as const] : engines))

/** Fails a run that hangs, with its state. */
async function hung(state: () => Promise<string>, signal: AbortSignal): Promise<void> {
  await sleep(hungAfterMs, undefined, { signal }).catch(() => undefined)
  if (!signal.aborted) throw new Error(`hung for ${hungAfterMs} ms while ${await state()}`)
}

/** Describes whether the node serves reads and writes, which every fault and request waits for. */
async function stateOf({ chain }: RunNode): Promise<string> {
  const does = (verb: string, method: string, params: readonly unknown[]) =>
    Promise.race([
      chain.rpc(method, params).then(
        () => `${verb}s`,
        (error: Error) => `fails to ${verb}: ${error.message}`,
      ),
      sleep(patienceMs, `does not ${verb}`),
    ])
  const states = [does('read', 'eth_blockNumber', []), does('write', 'evm_setAutomine', [false])]
  return (await Promise.all(states)).join(' and ')
}

const engines = ['indexer', 'transactions', 'treasury', 'facilitator'] as const
const isIntake = (point: Failpoint) => point === 'before-request-commit' || point === 'after-request-commit'
/** Number of blocks for which grants outlive the blocks of their transfers on a local chain. */
const grantsKeptBlocks = 65
/** More than the life of a transaction that expires. */
const lifeMs = 620_000
/** The same in blocks, and those that a fork may take back. */
const lifeBlocks = 190
/** One day between blocks, in milliseconds. */
const never = 86_400_000

/** Waits until the books contain the balances of the wallets; transfers are refused before. */
const untilFunded = (database: Database, { wallets }: SeededDatabase) =>
  until(async () => {
    const addresses = wallets.map(({ address }) => canonicalAddress(address))
    const rows = await database.all(
      sql`select 1 from accounts where address = any(${addresses}::text[]) and posted > 0`,
    )
    return rows.length >= 2 * wallets.length
  }, 'the wallets have their coins')

/** Waits until all transactions have ended. Returns undefined, or the unfinished ones when time runs out. */
async function untilEnded(database: Database, node: RunNode, load: ClientLoad): Promise<string | undefined> {
  let isPatient = true
  let nextPassMs = patienceMs
  return leftAfter(async (waitedMs) => {
    if (isPatient && waitedMs > patienceMs) {
      isPatient = false
      await load.cancelUnderpriced()
    }
    // A node may have lost transactions: others follow when they are dead. Each wait is twice as long, so that those are sent meanwhile.
    if (waitedMs > nextPassMs) {
      nextPassMs = 2 * nextPassMs + patienceMs
      node.aptos.pass(lifeMs)
      if (await mayHaveLost(database, node)) node.solana.pass(lifeBlocks)
    }
    return unfinished(database)
  })
}

/** Whether transactions wait for a block of Solana whose blocks are all followed: more of them would be a burden otherwise. */
async function mayHaveLost(database: Database, { solana }: RunNode): Promise<boolean> {
  const { blockchain: on } = solDevnet
  const { waiting, known } = await database.one<{ waiting: boolean; known: boolean }>(sql`select
    exists (select 1 from attempts where blockchain = ${on} and state in ('signed', 'sent')) as waiting,
    exists (select 1 from blocks where canonical and blockchain = ${on} and hash = ${solana.headHash()}) as known`)
  return waiting && known && solana.node.pending().length === 0
}

/**
 * Makes the last blocks, and waits until the workers have followed them. Only then the heads are compared: a busy machine
 * rarely knows those of two chains at one moment while both make blocks.
 */
async function followToTheEnd(database: Database, node: RunNode): Promise<string[]> {
  await node.mineEvery(never)
  await node.chain.mine(grantsKeptBlocks)
  for (let block = 0; block < grantsKeptBlocks; block++)
    for (const each of [node.aptos, node.solana]) each.node.mine()
  const behind = await leftAfter(() => unfollowed(database, node))
  return behind ? [`not followed within ${settleWithinMs} ms: ${behind}`] : []
}

const notTerminal = (left: string) => `not terminal within ${settleWithinMs} ms: ${left}`

/** How far the workers are behind: signing waits for blocks that are not read. */
const lagOf = async (database: Database, node: RunNode): Promise<string> =>
  (await unfollowed(database, node)) ?? 'all blocks are followed'

/** Asks what is left until nothing is. Returns undefined, or what is left when time runs out. */
async function leftAfter(
  left: (waitedMs: number) => Promise<string | undefined>,
): Promise<string | undefined> {
  const startedMs = performance.now()
  for (;;) {
    const waitedMs = performance.now() - startedMs
    const found = await left(waitedMs)
    if (!found || waitedMs > settleWithinMs) return found
    await sleep(200)
  }
}

async function injectFaults(
  { chain, aptos, solana }: RunNode,
  { slots }: WorkerPool,
  faults: readonly ScheduledFault[],
): Promise<void> {
  const startedMs = performance.now()
  for (const fault of faults) {
    await sleep(Math.max(0, fault.atMs - (performance.now() - startedMs)))
    if (fault.kind === 'reorg') {
      await chain.reorg(fault.depth)
      solana.fork(fault.depth)
    }
    if (fault.kind === 'wipe') {
      await chain.rpc('anvil_dropAllTransactions')
      solana.node.forgetPending()
    }
    if (fault.kind === 'kill') slots[fault.worker]!.kill()
    if (fault.kind === 'freeze') slots[fault.worker]!.freeze()
    if (fault.kind === 'clock') aptos.pass(fault.byMs)
    if (fault.kind === 'blocks') solana.pass(fault.count)
    if ('forMs' in fault) for (const node of [aptos, solana]) node.fail(fault.kind, fault.forMs)
  }
}
