import { randomUUID } from 'node:crypto'
import { formatInstant } from '#lib/time'
import { insertRequests, type RequestRow } from '#runtime/request-log/store'
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

/** Sends a request, and waits until it is logged. Where the log is off, the row of such a request is made. */
export async function makeLoggedRequest(world: World): Promise<LoggedRequest> {
  const id = randomUUID()
  const { ctx, database } = world.harness
  if (ctx.config.requestLog === 'off') {
    const row = rowOf(world.tenant.entityId, id, formatInstant(ctx.clock.nowMs()))
    await insertRequests(database, [row], [])
    return row
  }
  await world.tenant.http('GET', '/v1/w3s/walletSets', { headers: { 'X-Request-Id': id } })
  return loggedRequest(world, id)
}

const rowOf = (entityId: string, id: string, createDate: string): RequestRow => ({
  entityId,
  id,
  requestId: null,
  apiKeyId: null,
  method: 'GET',
  route: '/v1/w3s/walletSets',
  path: '/v1/w3s/walletSets',
  status: 200,
  code: null,
  idempotencyKey: null,
  resourceId: null,
  replayed: false,
  durationMs: 1,
  ip: null,
  userAgent: null,
  answeredAt: createDate,
  createDate,
})
