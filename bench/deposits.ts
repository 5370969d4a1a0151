import { createHash } from 'node:crypto'
import type { PrivateKeyAccount } from 'viem/accounts'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { rpc } from '#testing/platform/json-rpc'
import { broadcast, devAccount, fund, headOf, type Node, nonceOf, signedTransfer } from './chain.ts'
import { nodeOf } from './drain/bench.ts'
import { startPlatform } from './drain/processes.ts'
import { benchEntity } from './entity.ts'
import type { Figure } from './figures.ts'
import { measureBusyCores } from './machine.ts'
import { insertWatchedAddresses } from './rows.ts'
import type { Bench, Run } from './run.ts'
import { median, ratioOf } from './statistics.ts'
import { callApi, openTenant } from './tenant.ts'
import { until } from './until.ts'

/** Share of the deposits after which the worker has run all of its code. */
const share = 0.2

const sizesOf = ({ amount }: Run) => ({
  /** Watched addresses of the two setups whose latency is compared. */
  few: amount(1_000, 1_000, 100),
  many: amount(1_000_000, 100_000, 200),
  /** Watched addresses at which deposits per second and memory are measured. */
  flat: amount(100_000, 100_000, 200),
  /** Addresses that are paid before the measurement, and number of blocks that pay them. */
  warmUp: { watched: amount(200, 200, 20), blocks: amount(10, 10, 1) },
  /** The addresses that are paid while latency is measured, spread over those that were never paid before. */
  payees: amount(800, 800, 20),
  /** First deposits in a block: fewer, because each address has only one. */
  firstBlock: amount(100, 100, 10),
  /** Deposits in a block. */
  block: amount(500, 500, 10),
  blocksAgain: amount(12, 5, 1),
  backlogBlocks: amount(40, 10, 5),
})

const patience = { everyMs: 2, patienceMs: 120_000 }

type Setup = {
  run: Run
  node: Node
  database: Database
  payer: PrivateKeyAccount
  order: Awaited<ReturnType<typeof startPlatform>>['order']
  watched: number
  sizes: ReturnType<typeof sizesOf>
}

const shown = (count: number) => count.toLocaleString('en')

export const depositsBench: Bench = {
  name: 'deposits',
  about: 'deposits to many watched addresses: how soon, how many, and in how much memory',
  measure: async (run) => {
    const { few, many, flat } = sizesOf(run)
    const setups = { few: await openSetup(run, few), many: await openSetup(run, many) }
    const growth = await latencyFigures(setups)
    await setups.many.order('stop')
    await watch(setups.few, flat)
    const figures = [...(await backlogFigures(setups.few)), ...growth]
    for (const setup of Object.values(setups)) await checkCount(setup)
    return figures
  },
}

/** A worker on a chain that mines only on request, and one intent as the template of all watched addresses. */
async function openSetup(run: Run, watched: number): Promise<Setup> {
  const platform = await startPlatform(run)
  const node = nodeOf(platform)
  const database = openAsOwner(platform.ready.connection, 4)
  run.atEnd(database.close)
  const { tenant } = await openTenant(platform.ready)
  await callApi(tenant, 'POST', '/v1/paymentIntents', {
    idempotencyKey: crypto.randomUUID(),
    currency: 'USD',
    settlementCurrency: 'USD',
    type: 'continuous',
    paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
  })
  const payer = devAccount(0)
  await fund(node, payer.address, 10n ** 15n, 0n)
  await rpc(node.url, 'evm_setIntervalMining', [0])
  await platform.order('start')
  const sizes = sizesOf(run)
  const { warmUp } = sizes
  const setup = { run, node, database, payer, order: platform.order, watched: 0, sizes }
  // All code has run, and every table has some rows, before anything is measured.
  await watch(setup, warmUp.watched)
  for (let block = 0; block < warmUp.blocks; block++)
    await timeBlock(setup, sizes.block, (index) => index % warmUp.watched)
  await watch(setup, watched)
  run.report(`${shown(watched)} addresses are watched`)
  return setup
}

async function watch(setup: Setup, watched: number): Promise<void> {
  await insertWatchedAddresses(setup.database, benchEntity.id, setup.watched, watched)
  setup.watched = watched
}

/** Fills the node's pool with `count` transfers, each to the watched address that `pick` names. */
async function fillPool(
  { node, payer }: Setup,
  count: number,
  pick: (index: number) => number,
): Promise<void> {
  const first = await nonceOf(node, payer.address)
  const signed = await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const to = watchedAddress(pick(index))
      return signedTransfer(node, payer, first + index, to, 10_000n)
    }),
  )
  await broadcast(node.url, signed)
}

const watchedAddress = (index: number): `0x${string}` =>
  `0x${createHash('md5').update(String(index)).digest('hex')}de905175`

const mine = ({ node }: Setup) => rpc(node.url, 'evm_mine')

/** Resolves when the newest block of the chain is `seen` by the indexer, or its deposits are `recorded` as payments. */
async function reached({ node, database }: Setup, what: 'seen' | 'recorded'): Promise<void> {
  const head = await headOf(node)
  const isSo = async () => {
    const found = await database.maybe<{ recorded: boolean }>(sql`select c.step >= s.step as recorded
      from block_steps s join step_cursors c using (blockchain)
      where c.engine = 'treasury' and s.block_number = ${head}`)
    return found !== undefined && (what === 'seen' || found.recorded)
  }
  await until(isSo, `block ${head} is ${what}`, patience)
}

async function timeBlock(setup: Setup, count: number, pick: (index: number) => number): Promise<Latency> {
  await reached(setup, 'recorded')
  await fillPool(setup, count, pick)
  const startedMs = performance.now()
  await mine(setup)
  await reached(setup, 'seen')
  const seenMs = performance.now() - startedMs
  await reached(setup, 'recorded')
  return { seenMs, recordedMs: performance.now() - startedMs }
}

/** Milliseconds from the request to mine a block until it is seen, and until its deposits are payments. */
type Latency = { seenMs: number; recordedMs: number }
type Setups = Record<'few' | 'many', Setup>

/** Mines blocks that pay every payee once, then some that pay random ones again, alternating between the setups. */
async function latencyFigures(setups: Setups): Promise<Figure[]> {
  const { warmUp, payees, firstBlock, block, blocksAgain } = setups.few.sizes
  const busy = measureBusyCores()
  const payee = ({ watched }: Setup, place: number) =>
    warmUp.watched + Math.floor((place * (watched - warmUp.watched)) / payees)
  const first = await alternate(setups, payees / firstBlock, (setup, round) =>
    timeBlock(setup, firstBlock, (index) => payee(setup, round * firstBlock + index)),
  )
  const again = await alternate(setups, blocksAgain, (setup) =>
    timeBlock(setup, block, () => payee(setup, Math.floor(Math.random() * payees))),
  )
  const coresBusy = busy()
  const figure = (what: string, of: keyof Latency, { few, many }: typeof first): Figure => ({
    name: `a block of ${what}, ${shown(setups.many.watched)} watched addresses`,
    measured: { value: median(many.map((block) => block[of])), unit: 'ms' },
    reference: {
      value: median(few.map((block) => block[of])),
      unit: 'ms',
      what: `with ${shown(setups.few.watched)}`,
    },
    ratio: ratioOf(
      many.map((block) => block[of]),
      few.map((block) => block[of]),
    ),
    promise: { ratioMax: 1.5 },
    coresBusy,
  })
  return [
    figure(`${firstBlock} first deposits until it is in the books`, 'seenMs', first),
    figure(`${firstBlock} first deposits until they are payments`, 'recordedMs', first),
    figure(`${block} more deposits until it is in the books`, 'seenMs', again),
    figure(`${block} more deposits until they are payments`, 'recordedMs', again),
  ]
}

async function alternate(
  setups: Setups,
  rounds: number,
  time: (setup: Setup, round: number) => Promise<Latency>,
) {
  const blocks: Record<keyof Setups, Latency[]> = { few: [], many: [] }
  const names = Object.keys(blocks) as (keyof Setups)[]
  for (let round = 0; round < rounds; round++)
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const block = await time(setups[name], round)
      setups[name].run.report(
        `${shown(setups[name].watched)}: seen after ${block.seenMs.toFixed(0)} ms, payments after ${block.recordedMs.toFixed(0)} ms`,
      )
      blocks[name].push(block)
    }
  return blocks
}

/** Measures the catch-up over a backlog of blocks, in two parts: the speed, and the live memory after each. */
async function backlogFigures(setup: Setup): Promise<Figure[]> {
  const { flat, block, backlogBlocks: blocks } = setup.sizes
  const busy = measureBusyCores()
  const early = await backlog(setup, blocks * share)
  const late = await backlog(setup, blocks * (1 - share))
  const size = shown(flat)
  const megabytes = (bytes: number) => ({ value: bytes / 2 ** 20, unit: 'MB' as const })
  const count = (part: number) => shown(blocks * part * block)
  return [
    {
      name: `deposits recorded of a backlog, one worker, ${size} watched addresses`,
      measured: { value: late.perSecond, unit: 'tx/s' },
      coresBusy: busy(),
    },
    {
      name: `heap of a worker after ${count(1)} deposits, ${size} watched addresses`,
      measured: megabytes(late.heapBytes),
      reference: { ...megabytes(early.heapBytes), what: `after ${count(share)}` },
      ratio: late.heapBytes / early.heapBytes,
      promise: { ratioMax: 1.2 },
      coresBusy: busy(),
    },
  ]
}

async function backlog(setup: Setup, blocks: number) {
  const { flat, block: size } = setup.sizes
  await setup.order('stop')
  for (let block = 0; block < blocks; block++) {
    await fillPool(setup, size, () => Math.floor(Math.random() * flat))
    await mine(setup)
  }
  const startedMs = performance.now()
  await setup.order('start')
  await reached(setup, 'recorded')
  const perSecond = (blocks * size) / ((performance.now() - startedMs) / 1000)
  const heapBytes = await setup.order('heap')
  setup.run.report(
    `${blocks * size} deposits at ${perSecond.toFixed(0)} per second, heap ${Math.round(heapBytes / 2 ** 20)} MB`,
  )
  return { perSecond, heapBytes }
}

/** Throws unless every deposit became one payment. */
async function checkCount({ database, node, payer }: Setup): Promise<void> {
  const sent = await nonceOf(node, payer.address)
  const { count } = await database.one<{ count: number }>(sql`select count(*) from payments`)
  if (count !== sent) throw new Error(`${sent} deposits were sent and ${count} recorded`)
}
