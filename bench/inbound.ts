import { join } from 'node:path'
import { broadcast, devAccount, fund, type Node, nonceOf, signedTransfer } from './chain.ts'
import type { Figure } from './figures.ts'
import { measureBusyCores } from './machine.ts'
import { compiled, profiling, startProgram } from './processes.ts'
import type { Bench, Run } from './run.ts'
import { median, percentile } from './statistics.ts'
import { openTenant } from './tenant.ts'
import { until } from './until.ts'

const patience = { everyMs: 2, patienceMs: 10_000 }

export const inboundBench: Bench = {
  name: 'inbound',
  about: 'from a transfer on a chain to its row in the API',
  measure: async (run) => {
    const { node, tenant, wallet } = await startSandbox(run)
    const payer = devAccount(0)
    await fund(node, payer.address, 1_000_000_000n, 0n)
    const [count, warmUp] = [run.amount(200, 50, 2), run.amount(10, 10, 1)]
    const first = await nonceOf(node, payer.address)
    const signed = await Promise.all(
      Array.from({ length: count + warmUp }, (_, index) =>
        signedTransfer(node, payer, first + index, wallet.address, 10_000n),
      ),
    )
    const headers = { authorization: `Bearer ${tenant.apiKey}` }
    const seen = (hash: string) => listed(tenant.url, headers, hash)
    for (const raw of signed.splice(0, warmUp)) await latencyOf(node, raw, seen)
    const busy = measureBusyCores()
    const latencies: number[] = []
    for (const raw of signed) {
      latencies.push(await latencyOf(node, raw, seen))
      if (latencies.length % 50 === 0)
        run.report(`${latencies.length} seen, p50 ${median(latencies).toFixed(1)} ms`)
    }
    run.report(
      `p90 ${percentile(latencies, 0.9).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`,
    )
    return [
      {
        name: `inbound transfer to GET /v1/w3s/transactions, p50 of ${count}`,
        measured: { value: median(latencies), unit: 'ms' },
        promise: { max: 15 },
        coresBusy: busy(),
      } satisfies Figure,
    ]
  },
}

/** Starts a sandbox with one chain, which mines each transaction at once, and opens a customer with one wallet. */
export async function startSandbox(run: Run) {
  const dataDir = join(await run.directory(), 'data')
  const { line } = await startProgram(run, {
    args: [
      ...profiling(),
      (await compiled()).bezant,
      'sandbox',
      '--json',
      '--ephemeral',
      '--port',
      '0',
      '--data-dir',
      dataDir,
      '--chains',
      'BASE-SEPOLIA',
    ],
    env: { DATABASE_URL: '' },
    readyOn: 'stdout',
    isReady: (text) => text.startsWith('{'),
  })
  const sandbox = JSON.parse(line)
  const [chain] = sandbox.chains
  const node: Node = { url: chain.rpcUrl, chainId: chain.chainId, usdc: chain.tokens.USDC }
  const { tenant, keyed, wallet } = await openTenant(sandbox)
  const clientKey = sandbox.clientKey as string
  return { node, tenant: { ...tenant, url: sandbox.url as string }, keyed, wallet, dataDir, clientKey }
}

/** Milliseconds from sending the signed bytes to the node until the API lists the transaction. */
async function latencyOf(node: Node, raw: string, seen: (hash: string) => Promise<boolean>): Promise<number> {
  const startedMs = performance.now()
  const [hash] = await broadcast(node.url, [raw])
  await until(() => seen(hash!), `${hash} is listed`, patience)
  return performance.now() - startedMs
}

/** Whether the list has this transaction as received. */
export async function listed(url: string, headers: Record<string, string>, hash: string): Promise<boolean> {
  const response = await fetch(`${url}/v1/w3s/transactions?txType=INBOUND&txHash=${hash}`, { headers })
  const { data } = (await response.json()) as { data: { transactions: unknown[] } }
  return data.transactions.length > 0
}
