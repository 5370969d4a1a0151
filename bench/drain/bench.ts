import { setTimeout as sleep } from 'node:timers/promises'
import { openAsOwner } from '#runtime/db/db'
import { devAccounts } from '#sandbox/constants'
import { countMined, devAccount, fund, fundAll, fundWallets, type Node } from '../chain.ts'
import type { Figure } from '../figures.ts'
import { measureBusyCores } from '../machine.ts'
import type { Bench, Run } from '../run.ts'
import { median, ratioOf } from '../statistics.ts'
import { type Customer, callApi, openTenant } from '../tenant.ts'
import { measureAlone } from './alone.ts'
import { watchCompletion } from './completion.ts'
import { blockTimeMs, startPlatform } from './processes.ts'
import { nodeThroughput, scriptThroughput, untilMined, untilNewBlock } from './references.ts'

/**
 * Size of the ceiling measurement: the node accepts several thousands within one block, and fewer would measure the wait
 * for the block.
 */
const ceilingFactor = 2

/** Number of workers: one alone has a single thread for signing, sending and following. */
const workerCount = 2

/** Senders of the backlog, and the promised share of the node's ceiling. */
const loads = [
  { senders: 1, ratioMin: 0.25 },
  { senders: 100, ratioMin: 0.4 },
]
type Load = (typeof loads)[number]

type Platform = Awaited<ReturnType<typeof startPlatform>>

export const drainBench: Bench = {
  name: 'drain',
  about: 'a backlog of transfers from one wallet, and from a hundred',
  measure: async (run) => {
    const count = run.amount(10_000, 1_000, 10)
    const platform = await startPlatform(run, workerCount, 'BASE-SEPOLIA', run.node)
    const { order } = platform
    const node = nodeOf(platform)
    await fundAll(
      node,
      [0, 1].map((index) => ({ to: devAccount(index).address, usdcAtomic: 10n ** 15n, nativeAtomic: 0n })),
    )
    await order('start')
    const allSeries = await openSeries(platform, node)
    if (run.node === 'stub') {
      const customers = allSeries.map(({ customer }) => customer)
      for (const customer of customers) await untilCaughtUp(node, customer)
      await order('stop')
      return measureAlone(run, platform, node, customers, count)
    }
    const references: References = { ceiling: [], script: [] }
    for (let round = 0; round < run.amount(2, 1, 1); round++) {
      await order('stop')
      references.ceiling.push(await nodeThroughput(run, node, devAccounts[0]!, count * ceilingFactor))
      references.script.push(await scriptThroughput(run, node, devAccount(1), count))
      for (const series of allSeries) {
        await order('start')
        await untilCaughtUp(node, series.customer)
        await order('stop')
        await measureDrain(run, platform, node, series, count)
      }
    }
    return allSeries.flatMap((series) => figuresOf(series, references, count))
  },
}

export const nodeOf = ({ ready }: Pick<Platform, 'ready'>): Node => ({
  url: ready.nodeUrl,
  chainId: ready.chainId,
  usdc: ready.usdc,
})

type References = { ceiling: number[]; script: number[] }
type Series = {
  load: Load
  customer: Customer
  mined: number[]
  complete: number[]
  /** Milliseconds from the slowest block of each round until its transfers were COMPLETE. */
  slowestMs: number[]
  coresBusy: number
}

async function openSeries({ ready }: Platform, node: Node): Promise<Series[]> {
  const allSeries: Series[] = []
  for (const load of loads) {
    const customer = await openTenant(ready, load.senders)
    allSeries.push({ load, customer, mined: [], complete: [], slowestMs: [], coresBusy: 0 })
  }
  await fundWallets(
    node,
    allSeries.flatMap(({ customer }) => customer.wallets),
  )
  return allSeries
}

function figuresOf(
  { load, mined, complete, slowestMs, coresBusy }: Series,
  references: References,
  count: number,
): Figure[] {
  const speed = (list: number[]) => ({ value: median(list), unit: 'tx/s' as const })
  const from = load.senders === 1 ? 'one wallet' : `${load.senders} wallets`
  const name = `backlog of ${count.toLocaleString('en')} transfers from ${from}`
  const against = (list: number[], reference: number[], what: string) => ({
    measured: speed(list),
    reference: { ...speed(reference), what },
    ratio: ratioOf(list, reference),
    coresBusy,
  })
  return [
    {
      name: `${name}, until the last is in a block`,
      ...against(mined, references.ceiling, 'node, pre-signed'),
      promise: { ratioMin: load.ratioMin },
    },
    { name: `${name}, the same beside a script`, ...against(mined, references.script, 'bare viem script') },
    {
      name: `${name}, until the last is COMPLETE`,
      ...against(complete, references.ceiling, 'node, pre-signed'),
    },
    {
      name: `${name}, from its slowest block to COMPLETE`,
      measured: { value: median(slowestMs), unit: 'ms' },
      promise: { max: 1_000 },
      coresBusy,
    },
  ]
}

/** Waits until the engines have read every block so far, so that later outside transactions come after all of them. */
export async function untilCaughtUp(node: Node, { tenant, wallet }: Customer): Promise<void> {
  const [txHash] = await fund(node, wallet.address, 1n, 0n)
  for (let attempt = 0; attempt < 600; attempt++) {
    const { transactions } = await callApi(tenant, 'GET', `/v1/w3s/transactions?txHash=${txHash}`)
    if (transactions[0]?.state === 'COMPLETE') return
    await sleep(100)
  }
  throw new Error('the engines do not reach the head of the chain within a minute')
}

/**
 * Submits a backlog, starts the engines on it, and records transactions per second until all are mined, and until all are
 * booked.
 */
async function measureDrain(
  run: Run,
  { accept, order, setPace, ready }: Platform,
  node: Node,
  series: Series,
  count: number,
): Promise<void> {
  const { tenant, wallets } = series.customer
  const addresses = wallets.map(({ address }) => address)
  // Empty blocks meanwhile would have to be followed first.
  await setPace('paused')
  await accept(
    count,
    wallets.map(({ id }) => id),
  )
  await setPace(blockTimeMs / 1_000)
  const before = await countMined(node, addresses)
  await untilNewBlock(node)
  const database = openAsOwner(ready.connection, 1)
  const completion = watchCompletion(node, database, ready.blockchain)
  const busy = measureBusyCores()
  const startedMs = performance.now()
  const perSecond = () => count / ((performance.now() - startedMs) / 1000)
  await order('start')
  await untilMined(node, addresses, before + count)
  series.mined.push(perSecond())
  while (await isAnyOpen(tenant)) await sleep(50)
  series.complete.push(perSecond())
  series.coresBusy = busy()
  const lastedMs = await completion.stop()
  await database.close()
  series.slowestMs.push(Math.max(...lastedMs))
  const [mined, complete] = [series.mined.at(-1)!, series.complete.at(-1)!].map((value) => value.toFixed(0))
  run.report(
    `engine, ${wallets.length} senders: ${mined} tx/s in blocks, ${complete} tx/s COMPLETE; ms from each block: ${lastedMs.map(Math.round).join(', ')}`,
  )
}

const openStates = ['INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'STUCK', 'CONFIRMED']

/** Whether a transaction is under way, in one of these states; throws when one failed. */
export async function isAnyOpen(tenant: Customer['tenant'], states = openStates): Promise<boolean> {
  for (const state of states) {
    const { transactions } = await callApi(tenant, 'GET', `/v1/w3s/transactions?state=${state}&pageSize=1`)
    if (transactions.length > 0) return true
  }
  const { transactions } = await callApi(tenant, 'GET', '/v1/w3s/transactions?state=FAILED&pageSize=1')
  if (transactions.length > 0) throw new Error(`a transfer failed: ${JSON.stringify(transactions[0])}`)
  return false
}
