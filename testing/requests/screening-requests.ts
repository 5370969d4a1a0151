import { randomUUID } from 'node:crypto'
import { freshAddress, type World } from '#testing/builders/world'
import type { RequestSamples } from './sample-request.ts'

export const makeScreening = (world: World) =>
  world.tenant.http('POST', '/v1/w3s/compliance/screening/addresses', { body: body() })

const body = () => ({ idempotencyKey: randomUUID(), address: freshAddress(), chain: 'ETH-SEPOLIA' })

/** Sample requests for the screening of addresses. */
export const screeningRequests: Record<string, RequestSamples> = {
  'POST /v1/w3s/compliance/screening/addresses': {
    request: async () => ({ body: body() }),
    changes: async () => ({ address: freshAddress(), chain: 'AVAX-FUJI' }),
    refused: async () => ({ address: 'nowhere' }),
  },
  'GET /operator/screenings': { request: async () => ({}) },
  'GET /operator/screenings/{id}': {
    request: async (world) => ({ params: { id: (await makeScreening(world)).body.id } }),
  },
}
