import { randomUUID } from 'node:crypto'
import { type Emitter, emittedEvent, openEmitter } from './emitter.ts'
import type { Figure } from './figures.ts'
import { startSandbox } from './inbound.ts'
import { measureBusyCores } from './machine.ts'
import type { Bench } from './run.ts'
import { median, percentile } from './statistics.ts'
import { callApi } from './tenant.ts'
import { openWebhookEndpoint, type WebhookEndpoint } from './webhook-endpoint.ts'

export const blockchain = 'BASE-SEPOLIA'

export const eventsBench: Bench = {
  name: 'events',
  about: 'from an event on a chain to its webhook',
  measure: async (run) => {
    const { node, tenant } = await startSandbox(run)
    const endpoint = await openWebhookEndpoint()
    run.atEnd(endpoint.receiver.close)
    const emitter = await openEmitter(node)
    await monitor(tenant, emitter.address)
    await subscribe(tenant, endpoint.receiver.url)
    const [count, warmUp] = [run.amount(200, 50, 2), run.amount(10, 10, 1)]
    const latencies: number[] = []
    const busy = measureBusyCores()
    for (let index = 0; index < count + warmUp; index++) {
      const latency = await webhookLatency(emitter, endpoint)
      if (index >= warmUp) latencies.push(latency)
    }
    run.report(
      `p90 ${percentile(latencies, 0.9).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`,
    )
    return [
      {
        name: `event to webhook, p50 of ${count}`,
        measured: { value: median(latencies), unit: 'ms' },
        promise: { max: 20 },
        coresBusy: busy(),
      } satisfies Figure,
    ]
  },
}

type Caller = Parameters<typeof callApi>[0]

/** Imports a contract and monitors its transfers; returns the id of the monitor. */
export async function monitor(tenant: Caller, contractAddress: string, fromBlock?: number): Promise<string> {
  const contract = { name: 'Emitter', address: contractAddress, blockchain }
  await callApi(tenant, 'POST', '/v1/w3s/contracts/import', { ...contract, idempotencyKey: randomUUID() })
  const { eventMonitor } = await callApi(tenant, 'POST', '/v1/w3s/contracts/monitors', {
    idempotencyKey: randomUUID(),
    blockchain,
    contractAddress,
    eventSignature: emittedEvent,
    ...(fromBlock !== undefined && { fromBlock }),
  })
  return eventMonitor.id
}

export const subscribe = (tenant: Caller, endpoint: string): Promise<{ id: string }> =>
  callApi(tenant, 'POST', '/v2/notifications/subscriptions', {
    endpoint,
    notificationTypes: ['contracts.eventLog'],
  })

/** Milliseconds from sending a transaction with one event to the node until the endpoint has its webhook. */
async function webhookLatency({ emit }: Emitter, { arrival }: WebhookEndpoint): Promise<number> {
  const startedMs = performance.now()
  const [hash] = await emit([{ count: 1, first: 1 }])
  return (await arrival(hash!)) - startedMs
}
