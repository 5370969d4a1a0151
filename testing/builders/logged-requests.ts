import { randomUUID } from 'node:crypto'
import { until } from '#testing/platform/until'
import type { World } from './world.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read the members that they expect
export type LoggedRequest = any

/** A request as the log shows it, once it is written. */
export async function loggedRequest({ tenant }: Pick<World, 'tenant'>, id: string): Promise<LoggedRequest> {
  let found: LoggedRequest
  await until(async () => {
    const answer = await tenant.http('GET', `/operator/requests/${id}`)
    found = answer.body.data
    return answer.status === 200
  }, `request ${id} is logged`)
  return found
}

/** Sends a request, and waits until it is logged. */
export async function makeLoggedRequest(world: World): Promise<LoggedRequest> {
  const id = randomUUID()
  await world.tenant.http('GET', '/v1/w3s/walletSets', { headers: { 'X-Request-Id': id } })
  return loggedRequest(world, id)
}
