import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { networks } from '#chains/networks/index'
import { fund, type Node, nonceOf, outsider } from '../chain.ts'
import type { Figure } from '../figures.ts'
import { countBusyCores } from '../machine.ts'
import { root } from '../processes.ts'
import { median, ratioOf } from '../rounds.ts'
import type { Bench, Run } from '../run.ts'
import { type Customer, call, openTenant } from '../tenant.ts'
import { ceiling, minedUntil, script } from './beside.ts'
import type { Order, Ready } from './platform.ts'

const blockTimeMs = 1_000
const gasLimit = 1_000_000_000n
/** The node takes several thousands within one block: fewer would measure the wait for the block. */
const ceilingFactor = 4
/** Requests under way at once while the backlog is accepted. */
const submittersMax = 16

/** Senders of the backlog, and what is promised of the node's ceiling. */
const loads = [
  { senders: 1, ratioMin: 0.25 },
  { senders: 100, ratioMin: 0.4 },
]

export const drainBench: Bench = {
  name: 'drain',
  about: 'a backlog of transfers from one wallet, and from a hundred',
  measure: async (run) => {
    const count = run.quick ? 1_000 : 10_000
    const { ready, order } = await startPlatform(run)
    const node: Node = { url: ready.nodeUrl, chainId: ready.chainId, usdc: ready.usdc }
    await order('start')
    for (const index of [0, 1]) await fund(node, outsider(index).address, 10n ** 15n, 0n)
    const figures: Figure[] = []
    for (const load of loads) {
      const customer = await openTenant(ready, load.senders)
      for (const { address } of customer.wallets) await fund(node, address, 10n ** 13n, 10n ** 18n)
      figures.push(...(await measureLoad(run, node, order, customer, count, load.ratioMin)))
    }
    return figures
  },
}

async function measureLoad(
  run: Run,
  node: Node,
  order: (text: Order) => Promise<void>,
  customer: Customer,
  count: number,
  ratioMin: number,
): Promise<Figure[]> {
  const values: Values = { ceiling: [], script: [], engine: [] }
  let coresBusy = 0
  await untilCaughtUp(node, customer)
  for (let round = 0; round < (run.quick ? 1 : 2); round++) {
    await order('stop')
    values.ceiling.push(await ceiling(run, node, outsider(0), count * ceilingFactor))
    values.script.push(await script(run, node, outsider(1), count))
    await order('start')
    await untilCaughtUp(node, customer)
    await order('stop')
    await accept(run, customer, count)
    const busy = countBusyCores()
    values.engine.push(await drain(run, node, customer, count, order))
    coresBusy = busy()
  }
  return figuresOf(values, count, customer.wallets.length, coresBusy, ratioMin)
}

type Values = { ceiling: number[]; script: number[]; engine: number[] }

function figuresOf(
  { ceiling, script, engine }: Values,
  count: number,
  senders: number,
  coresBusy: number,
  ratioMin: number,
): Figure[] {
  const speed = (list: number[]) => ({ value: median(list), unit: 'tx/s' as const })
  const from = senders === 1 ? 'one wallet' : `${senders} wallets`
  const name = `backlog of ${count.toLocaleString('en')} transfers from ${from}, until the last is COMPLETE`
  const beside = (list: number[], what: string) => ({
    reference: { ...speed(list), what },
    ratio: ratioOf(engine, list),
  })
  return [
    {
      name,
      measured: speed(engine),
      ...beside(ceiling, 'node, pre-signed'),
      promise: { ratioMin },
      coresBusy,
    },
    { name: `${name} (beside)`, measured: speed(engine), ...beside(script, 'bare viem script'), coresBusy },
  ]
}

/** Forks the platform; `order` resolves when it has been obeyed. */
export async function startPlatform(run: Run) {
  const dataDir = await run.directory()
  const child = fork(`${root}bench/drain/platform.ts`, [dataDir, String(blockTimeMs), String(gasLimit)], {
    cwd: root,
    execArgv: ['--conditions=source', '--import', 'tsx', ...profiling()],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const order = async (text: Order) => {
    child.send(text)
    await once(child, 'message')
  }
  run.atEnd(async () => {
    if (child.exitCode !== null || !child.connected) return
    const exited = once(child, 'exit')
    await order('end')
    child.disconnect()
    await exited
  })
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`the platform ended with ${code}`)
  })
  const [ready] = (await Promise.race([once(child, 'message'), failed])) as [Ready]
  failed.catch(() => undefined)
  return { ready, order }
}

/** BENCH_PROFILE names a directory for a CPU profile of the platform's process. */
const profiling = () => {
  const directory = process.env['BENCH_PROFILE']
  return directory ? ['--cpu-prof', `--cpu-prof-dir=${directory}`] : []
}

const usdcId = networks
  .find(({ blockchain }) => blockchain === 'BASE-SEPOLIA')!
  .tokens.find(({ symbol }) => symbol === 'USDC')!.id

/** Until the engines have read every block so far: what an outsider sends now comes after all of them. */
export async function untilCaughtUp(node: Node, { tenant, wallet }: Customer): Promise<void> {
  const [txHash] = await fund(node, wallet.address, 1n, 0n)
  for (let attempt = 0; attempt < 600; attempt++) {
    const { transactions } = await call(tenant, 'GET', `/v1/w3s/transactions?txHash=${txHash}`)
    if (transactions[0]?.state === 'COMPLETE') return
    await sleep(100)
  }
  throw new Error('the engines do not reach the head of the chain within a minute')
}

/** Sends all transfers to the API and has them accepted; each to an address of its own. */
export async function accept(run: Run, { tenant, keyed, wallets }: Customer, count: number): Promise<number> {
  const startedMs = performance.now()
  let next = 0
  let accepted = 0
  const submit = async () => {
    while (next < count) {
      const index = next++
      const to = `0x${(0xca11_0000_0000n + BigInt(index)).toString(16).padStart(40, '0')}`
      await call(tenant, 'POST', '/v1/w3s/developer/transactions/transfer', {
        ...(await keyed()),
        walletId: wallets[index % wallets.length]!.id,
        tokenId: usdcId,
        destinationAddress: to,
        amounts: ['0.01'],
        feeLevel: 'MEDIUM',
      })
      if (++accepted % 1_000 === 0) run.say(`${accepted} accepted`)
    }
  }
  await Promise.all(Array.from({ length: submittersMax }, submit))
  const perSecond = count / ((performance.now() - startedMs) / 1000)
  run.say(`${count} transfers accepted over HTTP, ${perSecond.toFixed(0)} per second`)
  return perSecond
}

/** Starts the engines on the backlog; transactions per second until the books say that all are complete. */
async function drain(
  run: Run,
  node: Node,
  { tenant, wallets }: Customer,
  count: number,
  order: (text: Order) => Promise<void>,
): Promise<number> {
  const before = await Promise.all(wallets.map(({ address }) => nonceOf(node, address)))
  const startedMs = performance.now()
  const perSecond = () => count / ((performance.now() - startedMs) / 1000)
  await order('start')
  for (const [index, { address }] of wallets.entries())
    await minedUntil(node, address, before[index]! + shareOf(count, wallets.length, index))
  run.say(`engine: all in blocks, ${perSecond().toFixed(0)} tx/s`)
  while (await isAnyOpen(tenant)) await sleep(50)
  run.say(`engine: all COMPLETE, ${perSecond().toFixed(0)} tx/s`)
  return perSecond()
}

/** How many of `count` fall to the one at `index` when they are dealt out in turns. */
const shareOf = (count: number, among: number, index: number) =>
  Math.floor(count / among) + (index < count % among ? 1 : 0)

async function isAnyOpen(tenant: Customer['tenant']): Promise<boolean> {
  for (const state of ['INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'CONFIRMED']) {
    const { transactions } = await call(tenant, 'GET', `/v1/w3s/transactions?state=${state}&pageSize=1`)
    if (transactions.length > 0) return true
  }
  const { transactions } = await call(tenant, 'GET', '/v1/w3s/transactions?state=FAILED&pageSize=1')
  if (transactions.length > 0) throw new Error(`a transfer failed: ${JSON.stringify(transactions[0])}`)
  return false
}
