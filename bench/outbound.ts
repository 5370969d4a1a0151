import { type Node, nonceOf } from './chain.ts'
import type { Figure } from './figures.ts'
import { startSandbox } from './inbound.ts'
import { measureBusyCores } from './machine.ts'
import type { Bench } from './run.ts'
import { median, percentile } from './statistics.ts'
import { type Customer, callApi } from './tenant.ts'

const patienceMs = 10_000

export const outboundBench: Bench = {
  name: 'outbound',
  about: 'from an accepted transfer to the block that holds it, on an idle chain',
  measure: async (run) => {
    const { node, wallet, ...customer } = await startSandbox(run)
    const drip = { address: wallet.address, blockchain: 'BASE-SEPOLIA', native: true }
    await customer.tenant.http('POST', '/v1/faucet/drips', { body: drip })
    const [count, warmUp] = [run.amount(200, 30, 2), run.amount(10, 10, 1)]
    for (let warming = 0; warming < warmUp; warming++) await minedAfter(node, { ...customer, wallet })
    const busy = measureBusyCores()
    const latencies: number[] = []
    for (let sent = 0; sent < count; sent++) latencies.push(await minedAfter(node, { ...customer, wallet }))
    run.report(
      `p90 ${percentile(latencies, 0.9).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`,
    )
    return [
      {
        name: `accepted over HTTP to mined, p50 of ${count}`,
        measured: { value: median(latencies), unit: 'ms' },
        promise: { max: 20 },
        coresBusy: busy(),
      } satisfies Figure,
    ]
  },
}

type Payer = Pick<Customer, 'tenant' | 'keyed' | 'wallet'>

/** Milliseconds from the API's acceptance until the node counts the transaction. */
async function minedAfter(node: Node, { tenant, keyed, wallet }: Payer): Promise<number> {
  const before = await nonceOf(node, wallet.address)
  const body = {
    ...(await keyed()),
    walletId: wallet.id,
    destinationAddress: wallet.address,
    amounts: ['0.000001'],
  }
  await callApi(tenant, 'POST', '/v1/w3s/developer/transactions/transfer', { ...body, feeLevel: 'MEDIUM' })
  const startedMs = performance.now()
  while ((await nonceOf(node, wallet.address)) === before) {
    if (performance.now() - startedMs > patienceMs) throw new Error('no block took the transfer within 10 s')
  }
  return performance.now() - startedMs
}
