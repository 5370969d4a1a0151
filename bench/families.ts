import { setTimeout as sleep } from 'node:timers/promises'
import { type NetworkName, networks } from '#chains/networks/index'
import { isAnyOpen } from './drain/bench.ts'
import { startPlatform } from './drain/processes.ts'
import type { Figure } from './figures.ts'
import { listed } from './inbound.ts'
import { measureBusyCores } from './machine.ts'
import type { Bench, Run } from './run.ts'
import { median, percentile, ratioOf } from './statistics.ts'
import { callApi, openTenant } from './tenant.ts'
import { until } from './until.ts'

const patience = { everyMs: 2, patienceMs: 10_000 }
/** As in the bench of backlogs. */
const workerCount = 2
/** The chain of another family, and the one beside it. */
const [other, reference] = ['SOL-DEVNET', 'BASE-SEPOLIA'] as const satisfies NetworkName[]

type Measured = { perSecond: number[]; latencyMs: number[]; coresBusy: number }

export const familiesBench: Bench = {
  name: 'families',
  about: `a backlog of transfers, and an inbound one, on ${other} beside ${reference}`,
  measure: async (run) => {
    const count = run.amount(5_000, 1_000, 10)
    const payments = run.amount(200, 50, 2)
    const rounds = run.amount(3, 1, 1)
    const beside = await measureChain(run, reference, { count, payments, rounds })
    const own = await measureChain(run, other, { count, payments, rounds })
    const { coresBusy } = own
    return [
      {
        name: `backlog of ${count.toLocaleString('en')} transfers from one wallet on ${other}, until all are in blocks`,
        measured: { value: median(own.perSecond), unit: 'tx/s' },
        reference: { value: median(beside.perSecond), unit: 'tx/s', what: `on ${reference}` },
        ratio: ratioOf(own.perSecond, beside.perSecond),
        coresBusy,
      },
      {
        name: `inbound transfer on ${other} to GET /v1/w3s/transactions, p50 of ${payments}`,
        measured: { value: median(own.latencyMs), unit: 'ms' },
        reference: { value: median(beside.latencyMs), unit: 'ms', what: `on ${reference}` },
        ratio: median(own.latencyMs) / median(beside.latencyMs),
        coresBusy,
      },
    ] satisfies Figure[]
  },
}

type Sizes = { count: number; payments: number; rounds: number }

async function measureChain(
  run: Run,
  blockchain: NetworkName,
  { count, payments, rounds }: Sizes,
): Promise<Measured> {
  const { ready, order, pay, setPace, accept } = await startPlatform(run, workerCount, blockchain)
  const { tenant, wallet } = await openTenant({ ...ready, blockchain })
  await order('start')
  const { decimals } = networks.find((each) => each.blockchain === blockchain)!.nativeToken
  await pay(wallet.address, 'NATIVE', 100n * 10n ** BigInt(decimals))
  await pay(wallet.address, 'USDC', 10n ** 13n)
  const has = async () =>
    (await callApi(tenant, 'GET', `/v1/w3s/wallets/${wallet.id}/balances`)).tokenBalances
  await until(async () => (await has()).length === 2, 'the wallet has its coins', {
    everyMs: 100,
    patienceMs: 60_000,
  })
  const busy = measureBusyCores()
  const perSecond: number[] = []
  for (let round = 0; round < rounds; round++) {
    await order('stop')
    await accept(count, [wallet.id])
    const startedMs = performance.now()
    await order('start')
    while (await isAnyOpen(tenant, beforeBlocks)) await sleep(50)
    perSecond.push((1_000 * count) / (performance.now() - startedMs))
    run.report(`${blockchain}: ${perSecond.at(-1)!.toFixed(0)} tx/s in blocks`)
  }
  const coresBusy = busy()
  await setPace('each_transaction')
  const latencyMs: number[] = []
  const headers = { authorization: `Bearer ${ready.apiKey}` }
  for (let payment = 0; payment < payments; payment++) {
    const hash = await pay(wallet.address, 'USDC', BigInt(payment + 1))
    const startedMs = performance.now()
    await until(() => listed(ready.url, headers, hash), `${hash} is listed`, patience)
    latencyMs.push(performance.now() - startedMs)
  }
  run.report(
    `${blockchain}: inbound p50 ${median(latencyMs).toFixed(1)} ms, p99 ${percentile(latencyMs, 0.99).toFixed(1)} ms`,
  )
  await order('stop')
  return { perSecond, latencyMs, coresBusy }
}

const beforeBlocks = ['INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'STUCK']
