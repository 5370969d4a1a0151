import { randomUUID } from 'node:crypto'
import { keccak256 } from 'viem'
import { openReceiver } from '../testing/receiver.ts'
import { broadcast, devAccount, fund, nonceOf, signedTransfer } from './chain.ts'
import type { Figure } from './figures.ts'
import { startSandbox } from './inbound.ts'
import { measureBusyCores } from './machine.ts'
import type { Bench } from './run.ts'
import { median, percentile } from './statistics.ts'
import { callApi } from './tenant.ts'

const patienceMs = 10_000
const blockchain = 'BASE-SEPOLIA'

export const eventsBench: Bench = {
  name: 'events',
  about: 'from an event on a chain to its webhook',
  measure: async (run) => {
    const { node, tenant, wallet } = await startSandbox(run)
    const waiting = new Map<string, () => void>()
    const receiver = await openReceiver(async ({ body }) => {
      waiting.get(JSON.parse(body).notification.txHash)?.()
    })
    try {
      const contract = { name: 'USDC', address: node.usdc, blockchain, idempotencyKey: randomUUID() }
      await callApi(tenant, 'POST', '/v1/w3s/contracts/import', contract)
      await callApi(tenant, 'POST', '/v1/w3s/contracts/monitors', {
        idempotencyKey: randomUUID(),
        blockchain,
        contractAddress: node.usdc,
        eventSignature: 'Transfer(address,address,uint256)',
      })
      const subscription = { endpoint: receiver.url, notificationTypes: ['contracts.eventLog'] }
      await callApi(tenant, 'POST', '/v2/notifications/subscriptions', subscription)
      const payer = devAccount(0)
      await fund(node, payer.address, 1_000_000_000n, 0n)
      const count = run.quick ? 50 : 200
      const first = await nonceOf(node, payer.address)
      const latencies: number[] = []
      const busy = measureBusyCores()
      for (let index = 0; index < count + 10; index++) {
        const raw = await signedTransfer(node, payer, first + index, wallet.address, 10_000n)
        const latency = await latencyOf(node.url, raw, waiting)
        if (index >= 10) latencies.push(latency)
      }
      run.report(
        `p90 ${percentile(latencies, 0.9).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`,
      )
      return [
        {
          name: `event to webhook, p50 of ${count}`,
          measured: { value: median(latencies), unit: 'ms' },
          promise: { max: 200 },
          coresBusy: busy(),
        } satisfies Figure,
      ]
    } finally {
      await receiver.close()
    }
  },
}

/** Milliseconds from sending the signed bytes to the node until the endpoint has the webhook of their log. */
async function latencyOf(url: string, raw: string, waiting: Map<string, () => void>): Promise<number> {
  const hash = keccak256(raw as `0x${string}`)
  const startedMs = performance.now()
  const received = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${hash} is not reported after 10 s`)), patienceMs)
    waiting.set(hash, () => {
      clearTimeout(timer)
      resolve()
    })
  })
  await broadcast(url, [raw])
  await received
  waiting.delete(hash)
  return performance.now() - startedMs
}
