import { setTimeout as sleep } from 'node:timers/promises'
import { fundWallets } from '../chain.ts'
import { measureBusyCores } from '../machine.ts'
import type { Bench, Run } from '../run.ts'
import { type Customer, openTenant } from '../tenant.ts'
import { isAnyOpen, nodeOf, untilCaughtUp } from './bench.ts'
import { startPlatform } from './processes.ts'

const senders = 100
/** Share of the transfers after which the process has run all of its code; memory must not grow from here on. */
const share = 0.2

export const memoryBench: Bench = {
  name: 'memory',
  about: 'live memory of a worker process over 100,000 transfers',
  measure: async (run) => {
    const count = run.amount(100_000, 20_000, 20)
    const platform = await startPlatform(run)
    const { order, ready } = platform
    const node = nodeOf(platform)
    await order('start')
    const customer = await openTenant(ready, senders)
    await fundWallets(node, customer.wallets)
    await untilCaughtUp(node, customer)
    const busy = measureBusyCores()
    const early = await heapAfter(run, platform, customer, count * share)
    const late = await heapAfter(run, platform, customer, count * (1 - share))
    const megabytes = (bytes: number) => ({ value: bytes / 2 ** 20, unit: 'MB' as const })
    return [
      {
        name: `heap of a worker after ${count.toLocaleString('en')} transfers`,
        measured: megabytes(late),
        reference: { ...megabytes(early), what: `after ${(count * share).toLocaleString('en')}` },
        ratio: late / early,
        promise: { ratioMax: 1.2 },
        coresBusy: busy(),
      },
    ]
  },
}

/** Live bytes in the idle worker once it has carried out this many more transfers. */
async function heapAfter(
  run: Run,
  { accept, order }: Awaited<ReturnType<typeof startPlatform>>,
  { tenant, wallets }: Customer,
  count: number,
): Promise<number> {
  const startedMs = performance.now()
  await accept(
    count,
    wallets.map(({ id }) => id),
  )
  while (await isAnyOpen(tenant)) await sleep(200)
  const bytes = await order('heap')
  const perSecond = count / ((performance.now() - startedMs) / 1000)
  run.report(
    `${count} accepted and COMPLETE at ${perSecond.toFixed(0)} per second, heap ${Math.round(bytes / 2 ** 20)} MB`,
  )
  return bytes
}
