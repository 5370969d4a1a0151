import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PrivateKeyAccount } from 'viem/accounts'
import { type Database, openAsOwner, sql } from '#runtime/db/db'
import { sandboxEntity } from '#sandbox/credentials'
import { rpc } from '../testing/json-rpc.ts'
import { broadcast, fund, type Node, nonceOf, outsider, signedTransfer } from './chain.ts'
import { nodeOf } from './drain/bench.ts'
import { startPlatform } from './drain/processes.ts'
import type { Figure } from './figures.ts'
import { countBusyCores } from './machine.ts'
import { median, ratioOf } from './rounds.ts'
import { insertWatched } from './rows.ts'
import type { Bench, Run } from './run.ts'
import { call, openTenant } from './tenant.ts'

/** Deposits in a block. */
const blockSize = 500
/** Watched addresses at which deposits per second and memory are measured. */
const flatAt = 100_000
/** Share of the deposits after which the worker has run all of its code. */
const share = 0.2
/** Addresses that are paid before the measurement, and number of blocks that pay them. */
const warmUp = { watched: 200, blocks: 10 }
/** The addresses that are paid while latency is measured, spread over those that were never paid before. */
const payees = 800
/** First deposits in a block: fewer, because each address has only one. */
const firstBlockSize = 100
const patienceMs = 120_000

type Bed = {
  run: Run
  node: Node
  database: Database
  payer: PrivateKeyAccount
  order: Awaited<ReturnType<typeof startPlatform>>['order']
  watched: number
}

const shown = (count: number) => count.toLocaleString('en')

export const depositsBench: Bench = {
  name: 'deposits',
  about: 'deposits to many watched addresses: how soon, how many, and in how much memory',
  measure: async (run) => {
    const [few, many] = [1_000, run.quick ? flatAt : 1_000_000]
    const beds = { few: await openBed(run, few), many: await openBed(run, many) }
    const growth = await growthOf(beds, run.quick ? 5 : 12)
    await beds.many.order('stop')
    await watch(beds.few, flatAt)
    const figures = [...(await flow(beds.few, flatAt)), ...growth]
    for (const bed of Object.values(beds)) await checkCount(bed)
    return figures
  },
}

/** A worker on a chain that mines only on request, and one intent as the template of all watched addresses. */
async function openBed(run: Run, watched: number): Promise<Bed> {
  const platform = await startPlatform(run)
  const node = nodeOf(platform)
  const database = openAsOwner(platform.ready.connection, 4)
  run.atEnd(database.close)
  const { tenant } = await openTenant(platform.ready)
  await call(tenant, 'POST', '/v1/paymentIntents', {
    idempotencyKey: crypto.randomUUID(),
    currency: 'USD',
    settlementCurrency: 'USD',
    type: 'continuous',
    paymentMethods: [{ type: 'blockchain', chain: 'BASE' }],
  })
  const payer = outsider(0)
  await fund(node, payer.address, 10n ** 15n, 0n)
  await rpc(node.url, 'evm_setIntervalMining', [0])
  await platform.order('start')
  const bed = { run, node, database, payer, order: platform.order, watched: 0 }
  // All code has run, and every table has some rows, before anything is measured.
  await watch(bed, warmUp.watched)
  for (let block = 0; block < warmUp.blocks; block++)
    await timeBlock(bed, blockSize, (index) => index % warmUp.watched)
  await watch(bed, watched)
  run.say(`${shown(watched)} addresses are watched`)
  return bed
}

async function watch(bed: Bed, watched: number): Promise<void> {
  await insertWatched(bed.database, sandboxEntity.id, bed.watched, watched)
  bed.watched = watched
}

/** Fills the node's pool with `count` transfers, each to the watched address that `pick` names. */
async function fillPool({ node, payer }: Bed, count: number, pick: (index: number) => number): Promise<void> {
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

const mine = ({ node }: Bed) => rpc(node.url, 'evm_mine')

/** Resolves when the newest block of the chain is `seen` by the indexer, or its deposits are `recorded` as payments. */
async function reached({ node, database }: Bed, what: 'seen' | 'recorded'): Promise<void> {
  const head = Number(await rpc<string>(node.url, 'eth_blockNumber'))
  for (const due = performance.now() + patienceMs; performance.now() < due; await sleep(2)) {
    const found = await database.maybe<{ recorded: boolean }>(sql`select c.step >= s.step as recorded
      from block_steps s join step_cursors c using (blockchain)
      where c.engine = 'treasury' and s.block_number = ${head}`)
    if (found && (what === 'seen' || found.recorded)) return
  }
  throw new Error(`block ${head} is not ${what} after ${patienceMs / 1000} s`)
}

async function timeBlock(bed: Bed, count: number, pick: (index: number) => number): Promise<Latency> {
  await reached(bed, 'recorded')
  await fillPool(bed, count, pick)
  const startedMs = performance.now()
  await mine(bed)
  await reached(bed, 'seen')
  const seenMs = performance.now() - startedMs
  await reached(bed, 'recorded')
  return { seenMs, recordedMs: performance.now() - startedMs }
}

/** Milliseconds from the request to mine a block until it is seen, and until its deposits are payments. */
type Latency = { seenMs: number; recordedMs: number }
type Beds = Record<'few' | 'many', Bed>

/** Mines blocks that pay every payee once, then `blocks` that pay random ones again, alternating between the beds. */
async function growthOf(beds: Beds, blocks: number): Promise<Figure[]> {
  const busy = countBusyCores()
  const payee = ({ watched }: Bed, place: number) =>
    warmUp.watched + Math.floor((place * (watched - warmUp.watched)) / payees)
  const first = await inTurns(beds, payees / firstBlockSize, (bed, round) =>
    timeBlock(bed, firstBlockSize, (index) => payee(bed, round * firstBlockSize + index)),
  )
  const again = await inTurns(beds, blocks, (bed) =>
    timeBlock(bed, blockSize, () => payee(bed, Math.floor(Math.random() * payees))),
  )
  const coresBusy = busy()
  const figure = (what: string, of: keyof Latency, { few, many }: typeof first): Figure => ({
    name: `a block of ${what}, ${shown(beds.many.watched)} watched addresses`,
    measured: { value: median(many.map((block) => block[of])), unit: 'ms' },
    reference: {
      value: median(few.map((block) => block[of])),
      unit: 'ms',
      what: `with ${shown(beds.few.watched)}`,
    },
    ratio: ratioOf(
      many.map((block) => block[of]),
      few.map((block) => block[of]),
    ),
    promise: { ratioMax: 1.5 },
    coresBusy,
  })
  return [
    figure(`${firstBlockSize} first deposits until it is in the books`, 'seenMs', first),
    figure(`${firstBlockSize} first deposits until they are payments`, 'recordedMs', first),
    figure(`${blockSize} more deposits until it is in the books`, 'seenMs', again),
    figure(`${blockSize} more deposits until they are payments`, 'recordedMs', again),
  ]
}

async function inTurns(beds: Beds, rounds: number, time: (bed: Bed, round: number) => Promise<Latency>) {
  const blocks: Record<keyof Beds, Latency[]> = { few: [], many: [] }
  const names = Object.keys(blocks) as (keyof Beds)[]
  for (let round = 0; round < rounds; round++)
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const block = await time(beds[name], round)
      beds[name].run.say(
        `${shown(beds[name].watched)}: seen after ${block.seenMs.toFixed(0)} ms, payments after ${block.recordedMs.toFixed(0)} ms`,
      )
      blocks[name].push(block)
    }
  return blocks
}

/** Measures the catch-up over a backlog of blocks, in two parts: the speed, and the live memory after each. */
async function flow(bed: Bed, watched: number): Promise<Figure[]> {
  const blocks = bed.run.quick ? 10 : 40
  const busy = countBusyCores()
  const early = await backlog(bed, watched, blocks * share)
  const late = await backlog(bed, watched, blocks * (1 - share))
  const size = shown(watched)
  const megabytes = (bytes: number) => ({ value: bytes / 2 ** 20, unit: 'MB' as const })
  const count = (part: number) => shown(blocks * part * blockSize)
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

async function backlog(bed: Bed, watched: number, blocks: number) {
  await bed.order('stop')
  for (let block = 0; block < blocks; block++) {
    await fillPool(bed, blockSize, () => Math.floor(Math.random() * watched))
    await mine(bed)
  }
  const startedMs = performance.now()
  await bed.order('start')
  await reached(bed, 'recorded')
  const perSecond = (blocks * blockSize) / ((performance.now() - startedMs) / 1000)
  const heapBytes = await bed.order('heap')
  bed.run.say(
    `${blocks * blockSize} deposits at ${perSecond.toFixed(0)} per second, heap ${Math.round(heapBytes / 2 ** 20)} MB`,
  )
  return { perSecond, heapBytes }
}

/** Throws unless every deposit became one payment. */
async function checkCount({ database, node, payer }: Bed): Promise<void> {
  const sent = await nonceOf(node, payer.address)
  const { count } = await database.one<{ count: number }>(sql`select count(*) from payments`)
  if (count !== sent) throw new Error(`${sent} deposits were sent and ${count} recorded`)
}
