import { type Node, nonceOf } from './chain.ts'
import type { Figure } from './figures.ts'
import { startSandbox } from './inbound.ts'
import { measureBusyCores } from './machine.ts'
import type { Bench } from './run.ts'
import { median, percentile } from './statistics.ts'
import { type Customer, callApi } from './tenant.ts'
import { until } from './until.ts'

const patienceMs = 10_000

export const outboundBench: Bench = {
  name: 'outbound',
  about: 'from an accepted transfer to the block that holds it, and from there to COMPLETE, on an idle chain',
  measure: async (run) => {
    const { node, wallet, ...customer } = await startSandbox(run)
    const drip = { address: wallet.address, blockchain: 'BASE-SEPOLIA', native: true }
    await customer.tenant.http('POST', '/v1/faucet/drips', { body: drip })
    const [count, warmUp] = [run.amount(200, 30, 2), run.amount(10, 10, 1)]
    for (let warming = 0; warming < warmUp; warming++) await transfer(node, { ...customer, wallet })
    const busy = measureBusyCores()
    const minedMs: number[] = []
    const completeMs: number[] = []
    for (let sent = 0; sent < count; sent++) {
      const took = await transfer(node, { ...customer, wallet })
      minedMs.push(took.minedMs)
      completeMs.push(took.completeMs)
    }
    for (const [what, latencies] of [['mined', minedMs] as const, ['COMPLETE', completeMs] as const])
      run.report(
        `${what}: p90 ${percentile(latencies, 0.9).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`,
      )
    const coresBusy = busy()
    return [
      {
        name: `accepted over HTTP to mined, p50 of ${count}`,
        measured: { value: median(minedMs), unit: 'ms' },
        promise: { max: 20 },
        coresBusy,
      },
      {
        name: `from the block that completes it to COMPLETE in the API, p99 of ${count}`,
        measured: { value: percentile(completeMs, 0.99), unit: 'ms' },
        promise: { max: 1_000 },
        coresBusy,
      },
    ] satisfies Figure[]
  },
}

type Payer = Pick<Customer, 'tenant' | 'keyed' | 'wallet'>

/** Milliseconds from the API's acceptance until the node counts the transaction, and from then until the API shows it as COMPLETE. */
async function transfer(node: Node, { tenant, keyed, wallet }: Payer) {
  const before = await nonceOf(node, wallet.address)
  const body = {
    ...(await keyed()),
    walletId: wallet.id,
    destinationAddress: wallet.address,
    amounts: ['0.000001'],
  }
  const path = '/v1/w3s/developer/transactions/transfer'
  const { id } = await callApi(tenant, 'POST', path, { ...body, feeLevel: 'MEDIUM' })
  const startedMs = performance.now()
  while ((await nonceOf(node, wallet.address)) === before) {
    if (performance.now() - startedMs > patienceMs) throw new Error('no block took the transfer within 10 s')
  }
  const minedMs = performance.now() - startedMs
  const isComplete = async () =>
    (await callApi(tenant, 'GET', `/v1/w3s/transactions/${id}`)).transaction.state === 'COMPLETE'
  await until(isComplete, `${id} is COMPLETE`, { everyMs: 2, patienceMs })
  return { minedMs, completeMs: performance.now() - startedMs - minedMs }
}
