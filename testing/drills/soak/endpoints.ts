import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from '#testing/builders/world'
import { openReceiver, type Receiver } from '#testing/servers/receiver'

/** Endpoints of webhooks: the first always answers, the others by the plan. */
export type Endpoints = {
  /** Number of notifications that each endpoint took, repetitions included. */
  counts: readonly number[]
  /** Ids that the first endpoint took. */
  taken: ReadonlySet<string>
  meet(endpoint: number, as: 'dead' | 'slow', forMs: number): Promise<void>
  close(): Promise<void>
}

const slowMs = 3_000
const endpointCount = 3

/** Subscribes three endpoints of a tenant to all types. */
export async function openEndpoints(world: World): Promise<Endpoints> {
  const receivers: Receiver[] = []
  const counts: number[] = []
  const taken = new Set<string>()
  for (let index = 0; index < endpointCount; index++) {
    const receiver = await openReceiver(async ({ body }) => {
      counts[index]! += 1
      // Only their number matters, and hours of them would fill the memory.
      receiver.received.length = 0
      if (index === 0) taken.add((JSON.parse(body) as { notificationId: string }).notificationId)
    })
    receivers.push(receiver)
    counts.push(0)
    await world.call('POST', '/v2/notifications/subscriptions', { endpoint: receiver.url })
  }
  return {
    counts,
    taken,
    meet: async (index, as, forMs) => {
      const receiver = receivers[index]!
      receiver.behave((_, response, take) => {
        receiver.received.length = 0
        if (as === 'dead') response.destroy()
        else setTimeout(take, slowMs)
      })
      await sleep(forMs)
      receiver.behave()
    },
    close: async () => void (await Promise.all(receivers.map((receiver) => receiver.close()))),
  }
}
