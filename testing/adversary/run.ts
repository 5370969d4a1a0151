import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Failpoint } from '#lib/failpoints'
import { type Database, openDatabase, sql } from '#runtime/db/db'
import { cloneOf } from '../database-clone.ts'
import { until } from '../until.ts'
import { type Desk, openDesk } from './desk.ts'
import { blockchain, type Ground, type Lane, openLane } from './lane.ts'
import type { Fault, Schedule } from './schedule.ts'
import { hire, type Pool, type Staff } from './staff.ts'
import { defectsOf, unsettled } from './verdict.ts'

export type RunResult = {
  seed: number
  point: Failpoint
  /** Number of armed processes that reached the failpoint. */
  reached: number
  deaths: number
  freezes: number
  accepted: number
  /** Time from the start to the last fault, and from there until all transfers had ended. */
  faultsMs: number
  settledMs: number
  defects: string[]
}

const settleWithinMs = 60_000
/** Longer than any run takes on a busy machine. */
const hungAfterMs = 240_000
/** Time after which a customer checks a transfer that makes no progress. */
const patienceMs = 5_000

export type Stage = { ground: Ground; pool: Pool }

/** Carries out one schedule from an empty chain to the verdict. */
export async function carryOut({ ground, pool }: Stage, schedule: Schedule): Promise<RunResult> {
  const { seed, point, plans, restartMs, transfers, faults } = schedule
  const [lane, clone] = await Promise.all([openLane(ground), cloneOf(ground.runServer, ground.template)])
  const database = openDatabase(clone.connection, 2)
  const { rpcUrl } = lane.chain
  const dataDir = await mkdtemp(join(tmpdir(), 'bezant-adversary-'))
  const platform = { connection: clone.connection, rpcUrl, blockchain, dataDir } as const
  // An API costs as much as the other roles: one is enough unless the failpoint is in it.
  const roles = plans.map((_, index) =>
    index === 0 || isIntake(point) ? [...engines, 'api' as const] : engines,
  )
  const staff = hire({ pool, platform, roles, restartMs })
  const startedMs = performance.now()
  const defects: string[] = []
  const desk = openDesk(ground, staff.seats)
  let faultsMs = 0
  let settledMs = 0
  let doing = ''
  const act = async () => {
    doing = 'funding the wallets'
    await knowsTheWallets(database, ground)
    doing = 'arming the workers'
    await staff.arm(plans)
    await lane.mineEvery(schedule.blockTimeMs)
    doing = 'asking for transfers, and doing harm'
    await Promise.all([
      desk.submitAll(transfers).then(() => (doing = 'doing harm')),
      inflict(lane, staff, faults).then(() => (doing = 'asking for transfers')),
    ])
    doing = 'waking and replacing the workers'
    await staff.relent()
    faultsMs = performance.now() - startedMs
    doing = 'waiting for the end of all transfers'
    const left = await untilSettled(database, lane, desk)
    settledMs = performance.now() - startedMs - faultsMs
    if (left) defects.push(`not terminal within ${settleWithinMs} ms: ${left}`)
    await lane.mineEvery(never)
    doing = 'waiting until no block of a transfer can be rewound'
    await lane.chain.mine(grantsKeptBlocks)
    await untilSettled(database, lane, desk)
    doing = 'comparing with the chain'
    const found = await defectsOf(database, lane.chain, ground.wallets, desk.accepted, desk.refused)
    defects.push(...desk.defects, ...found)
    doing = 'ending the workers'
    await staff.dismiss()
  }
  const overtime = new AbortController()
  try {
    const state = async () => `${doing} (workers: ${staff.states()}; the node ${await stateOf(lane)})`
    await Promise.race([act(), staff.failed, hung(state, overtime.signal)])
  } catch (error) {
    defects.push(String((error as Error).stack ?? error))
    staff.fire()
  }
  overtime.abort()
  await lane.stop()
  await database.close()
  await clone.drop()
  await rm(dataDir, { recursive: true, force: true })
  const { reached, deaths, freezes } = staff.counts
  const accepted = desk.accepted.length
  return { seed, point, reached, deaths, freezes, accepted, faultsMs, settledMs, defects }
}

/** Fails a run that hangs, with its state. */
async function hung(state: () => Promise<string>, signal: AbortSignal): Promise<void> {
  await sleep(hungAfterMs, undefined, { signal }).catch(() => undefined)
  if (!signal.aborted) throw new Error(`hung for ${hungAfterMs} ms while ${await state()}`)
}

/** Describes whether the node serves reads and writes, which every fault and request waits for. */
async function stateOf({ chain }: Lane): Promise<string> {
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

const engines = ['indexer', 'transactions'] as const
const isIntake = (point: Failpoint) => point === 'before-request-commit' || point === 'after-request-commit'
/** Number of blocks for which grants outlive the blocks of their transfers on a local chain. */
const grantsKeptBlocks = 65
/** One day between blocks, in milliseconds. */
const never = 86_400_000

/** Waits until the books contain the balances of the wallets; transfers are refused before. */
const knowsTheWallets = (database: Database, { wallets }: Ground) =>
  until(async () => {
    const addresses = wallets.map(({ address }) => address.toLowerCase())
    const rows = await database.all(
      sql`select 1 from accounts where address = any(${addresses}::text[]) and posted > 0`,
    )
    return rows.length >= 2 * wallets.length
  }, 'the wallets have their coins')

/** Waits until everything has ended. Returns undefined, or the unfinished work when time runs out. */
async function untilSettled(database: Database, { chain }: Lane, desk: Desk): Promise<string | undefined> {
  const startedMs = performance.now()
  let waits = true
  for (;;) {
    const left = await unsettled(database, chain)
    const waitedMs = performance.now() - startedMs
    if (!left || waitedMs > settleWithinMs) return left
    if (waits && waitedMs > patienceMs) {
      waits = false
      await desk.giveUp()
    }
    await sleep(200)
  }
}

async function inflict({ chain }: Lane, { seats }: Staff, faults: readonly Fault[]): Promise<void> {
  const startedMs = performance.now()
  for (const fault of faults) {
    await sleep(Math.max(0, fault.atMs - (performance.now() - startedMs)))
    if (fault.kind === 'reorg') await chain.reorg(fault.depth)
    if (fault.kind === 'wipe') await chain.rpc('anvil_dropAllTransactions')
    if (fault.kind === 'kill') seats[fault.worker]!.kill()
    if (fault.kind === 'freeze') seats[fault.worker]!.freeze()
  }
}
