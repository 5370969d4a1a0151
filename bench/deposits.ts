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
import { median } from './rounds.ts'
import { insertWatched } from './rows.ts'
import type { Bench, Run } from './run.ts'
import { call, openTenant } from './tenant.ts'

/** Deposits in a block. */
const blockSize = 500
/** Watched addresses at which deposits per second and memory are measured. */
const flatAt = 100_000
/** After this share of the deposits the worker has seen all of its work. */
const share = 0.2
/** The addresses that are paid while latency is measured, spread over all: the first deposit at one opens its accounts. */
const payees = 1_000
/** Blocks that are not counted: they pay each of those once. */
const warmUp = payees / blockSize
const patienceMs = 120_000

type Bed = {
  run: Run
  node: Node
  database: Database
  payer: PrivateKeyAccount
  order: Awaited<ReturnType<typeof startPlatform>>['order']
}

export const depositsBench: Bench = {
  name: 'deposits',
  about: 'deposits to many watched addresses: how soon, how many, and in how much memory',
  measure: async (run) => {
    const sizes = run.quick ? [1_000, flatAt] : [1_000, flatAt, 1_000_000]
    const bed = await openBed(run)
    const latencies: Latency[] = []
    const figures: Figure[] = []
    const busy = countBusyCores()
    let watched = 0
    for (const size of sizes) {
      await insertWatched(bed.database, sandboxEntity.id, watched, size)
      watched = size
      latencies.push(await latencyOf(bed, watched, run.quick ? 5 : 12))
      if (size === flatAt) figures.push(...(await flow(bed, watched)))
    }
    const [first, last] = [latencies[0]!, latencies.at(-1)!]
    const growth = (until: string, of: keyof Latency) => ({
      name: `a block of ${blockSize} deposits until ${until}, ${watched.toLocaleString('en')} watched addresses`,
      measured: { value: last[of], unit: 'ms' as const },
      reference: { value: first[of], unit: 'ms' as const, what: `with ${sizes[0]!.toLocaleString('en')}` },
      ratio: last[of] / first[of],
      promise: { ratioMax: 1.5 },
      coresBusy: busy(),
    })
    figures.push(growth('it is in the books', 'seenMs'), growth('they are payments', 'recordedMs'))
    await checkCount(bed)
    return figures
  },
}

/** A worker on a chain that mines only when it is told to, and one intent that all others are made like. */
async function openBed(run: Run): Promise<Bed> {
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
  return { run, node, database, payer, order: platform.order }
}

/** Waits in the node's pool: as many transfers as a block takes, each to the watched address that `pick` names. */
async function fillPool({ node, payer }: Bed, pick: (index: number) => number): Promise<void> {
  const first = await nonceOf(node, payer.address)
  const signed = await Promise.all(
    Array.from({ length: blockSize }, (_, index) => {
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

type Latency = { seenMs: number; recordedMs: number }

/** From the order to mine a block until it is seen, and until its deposits are payments; medians of some blocks after a few others. */
async function latencyOf(bed: Bed, watched: number, blocks: number): Promise<Latency> {
  const seen: number[] = []
  const recorded: number[] = []
  await reached(bed, 'recorded')
  for (let block = -warmUp; block < blocks; block++) {
    await fillPool(bed, (index) => {
      const place = block < 0 ? (block + warmUp) * blockSize + index : Math.floor(Math.random() * payees)
      return place * (watched / payees)
    })
    const startedMs = performance.now()
    await mine(bed)
    await reached(bed, 'seen')
    const seenMs = performance.now() - startedMs
    await reached(bed, 'recorded')
    if (block < 0) continue
    seen.push(seenMs)
    recorded.push(performance.now() - startedMs)
  }
  const latency = { seenMs: median(seen), recordedMs: median(recorded) }
  const [inBooks, asPayments] = Object.values(latency).map((ms) => ms.toFixed(0))
  bed.run.say(`${watched} watched: a block is seen after ${inBooks} ms, recorded after ${asPayments} ms`)
  return latency
}

/** A backlog of blocks that the worker comes back to, in two parts: how fast it is, and what is alive in it after each. */
async function flow(bed: Bed, watched: number): Promise<Figure[]> {
  const blocks = bed.run.quick ? 10 : 40
  const busy = countBusyCores()
  const early = await backlog(bed, watched, blocks * share)
  const late = await backlog(bed, watched, blocks * (1 - share))
  const size = watched.toLocaleString('en')
  const megabytes = (bytes: number) => ({ value: bytes / 2 ** 20, unit: 'MB' as const })
  const count = (part: number) => (blocks * part * blockSize).toLocaleString('en')
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
    await fillPool(bed, () => Math.floor(Math.random() * watched))
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

/** Nothing was measured unless every deposit became one payment. */
async function checkCount({ database, node, payer }: Bed): Promise<void> {
  const sent = await nonceOf(node, payer.address)
  const { count } = await database.one<{ count: number }>(sql`select count(*) from payments`)
  if (count !== sent) throw new Error(`${sent} deposits were sent and ${count} recorded`)
}
