import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { quantity, rpc } from '#testing/platform/json-rpc'
import { headOf, type Node } from './chain.ts'
import { nodeOf } from './drain/bench.ts'
import { startPlatform } from './drain/processes.ts'
import { untilNewBlock } from './drain/references.ts'
import { type Emitter, openEmitter } from './emitter.ts'
import type { Figure } from './figures.ts'
import { measureBusyCores } from './machine.ts'
import type { Bench, Run } from './run.ts'
import { median } from './statistics.ts'
import { until } from './until.ts'

const blockTimeMs = 1_000
/** Transfers of an unlisted token in each block. */
const transfers = 2_000
const transferTransactions = 20
const sampleMs = 50
const patience = { everyMs: 2, patienceMs: 300_000 }

type Setup = {
  run: Run
  node: Node
  database: Database
  emitter: Emitter
  order: Awaited<ReturnType<typeof startPlatform>>['order']
}

export const blocksBench: Bench = {
  name: 'blocks',
  about: 'blocks of 2,000 transfers of a foreign token, one a second',
  measure: async (run) => {
    const blocks = run.amount(40, 10, 1)
    const { ready, order } = await startPlatform(run)
    const node = nodeOf({ ready })
    const database = openAsOwner(ready.connection)
    run.atEnd(database.close)
    const setup = { run, node, database, order, emitter: await openEmitter(node) }
    await order('start')
    await fillBlocks(setup, 0, 3)
    await reached(setup, await headOf(node))
    const live = await follow(setup, 3, blocks)
    await order('stop')
    const from = await headOf(node)
    await fillBlocks(setup, 3 + blocks, blocks)
    const late = await catchUp(setup, from)
    return figuresOf(live, late)
  },
}

/** Sends the transfers of this many blocks, each right after the block before. Recipients of a token seldom recur. */
async function fillBlocks({ node, emitter }: Setup, from: number, blocks: number): Promise<void> {
  const count = transfers / transferTransactions
  for (let block = from; block < from + blocks; block++) {
    await untilNewBlock(node)
    const firstOf = (index: number) => block * transfers + index * count + 1
    await emitter.emit(
      Array.from({ length: transferTransactions }, (_, index) => ({ count, first: firstOf(index) })),
    )
  }
}

async function appliedTo({ database }: Setup): Promise<number> {
  const found = await database.one<{ number: number | null }>(
    sql`select max(block_number) as number from block_steps`,
  )
  return found.number ?? -1
}

const reached = (setup: Setup, height: number) =>
  until(async () => (await appliedTo(setup)) >= height, `block ${height} is applied`, patience)

type Live = { lagBlocks: number; cpuCores: number; coresBusy: number }

/** Fills blocks while the worker follows them; samples its distance from the head. */
async function follow(setup: Setup, from: number, blocks: number): Promise<Live> {
  const { run, node, order } = setup
  const lags: number[] = []
  let filling = true
  const busy = measureBusyCores()
  const [startedMs, cpuBeforeMs] = [performance.now(), await order('cpu')]
  const filled = fillBlocks(setup, from, blocks).finally(() => {
    filling = false
  })
  for (; filling; await sleep(sampleMs)) lags.push((await headOf(node)) - (await appliedTo(setup)))
  await filled
  await reached(setup, await headOf(node))
  const cpuCores = ((await order('cpu')) - cpuBeforeMs) / (performance.now() - startedMs)
  const behind = lags.filter((lag) => lag > 0).length / lags.length
  const lagBlocks = Math.max(...lags)
  run.report(
    `live: at most ${lagBlocks} blocks behind, ${(behind * 100).toFixed(0)} % of the time, ${cpuCores.toFixed(2)} of a core`,
  )
  return { lagBlocks, cpuCores, coresBusy: busy() }
}

type Late = { blockMs: number; readMs: number; coresBusy: number }

/** Applies blocks that are there already: the time of one is the work that it takes. */
async function catchUp(setup: Setup, from: number): Promise<Late> {
  const { run, node, order } = setup
  const to = await headOf(node)
  const busy = measureBusyCores()
  const reads: number[] = []
  for (let number = from + 1; number <= to; number++) reads.push(await readMs(node, number))
  const startedMs = performance.now()
  await order('start')
  await reached(setup, to)
  const late = { blockMs: (performance.now() - startedMs) / (to - from), readMs: median(reads) }
  run.report(
    `${to - from} late blocks: ${late.blockMs.toFixed(0)} ms each, ${late.readMs.toFixed(0)} to read`,
  )
  return { ...late, coresBusy: busy() }
}

/** Milliseconds that the node takes for a block with its logs. */
async function readMs({ url }: Node, number: number): Promise<number> {
  const startedMs = performance.now()
  const at = quantity(number)
  await rpc(url, 'eth_getBlockByNumber', [at, true])
  await rpc(url, 'eth_getLogs', [{ fromBlock: at, toBlock: at }])
  return performance.now() - startedMs
}

function figuresOf(live: Live, late: Late): Figure[] {
  const what = `1 s blocks of ${transfers.toLocaleString('en')} foreign transfers`
  const ms = (value: number) => ({ value, unit: 'ms' as const })
  const apply = { name: `${what}: work for one`, measured: ms(late.blockMs), coresBusy: late.coresBusy }
  return [
    {
      name: `${what}: largest lag`,
      measured: { value: live.lagBlocks, unit: 'blocks' },
      promise: { max: 1 },
      coresBusy: live.coresBusy,
    },
    {
      name: `${what}: share of a core in the worker`,
      measured: { value: live.cpuCores, unit: 'cores' },
      promise: { max: 0.5 },
      coresBusy: live.coresBusy,
    },
    {
      ...apply,
      reference: { ...ms(blockTimeMs), what: 'block time' },
      ratio: late.blockMs / blockTimeMs,
      promise: { ratioMax: 0.5 },
    },
    {
      ...apply,
      reference: { ...ms(late.readMs), what: 'to read it from the node' },
      ratio: late.blockMs / late.readMs,
    },
  ]
}
