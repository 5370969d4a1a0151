import { oncePer } from '#runtime/scheduling/memoize'
import { makeEmitter, makeMonitor, monitorBody } from '#testing/builders/emitter'
import { nextCount, type World } from '#testing/builders/world'
import type { RequestSamples } from './sample-request.ts'

const emitterOf = oncePer((world: World) => makeEmitter(world))
const newEvent = () => ({ eventSignature: `Event${nextCount()}(uint256)` })
const newMonitor = async (world: World) => makeMonitor(world, await emitterOf(world), newEvent())

const nothing: RequestSamples = { request: async () => ({}) }

/** Sample requests for event monitors and their logs. */
export const monitorRequests: Record<string, RequestSamples> = {
  'GET /v1/w3s/contracts/monitors': nothing,
  'GET /v1/w3s/contracts/events': nothing,
  'POST /v1/w3s/contracts/monitors': {
    request: async (world) => ({ body: monitorBody(world, await emitterOf(world), newEvent()) }),
    changes: async (world) => ({
      contractAddress: await makeEmitter(world),
      eventSignature: 'Other(uint256)',
      fromBlock: 0,
    }),
    refused: async () => ({ eventSignature: 'Moved(' }),
  },
  'GET /operator/eventMonitors/{id}': {
    request: async (world) => ({ params: { id: (await newMonitor(world)).id } }),
  },
  'PUT /v1/w3s/contracts/monitors/{id}': {
    request: async (world) => ({ params: { id: (await newMonitor(world)).id }, body: { isEnabled: false } }),
  },
  'DELETE /v1/w3s/contracts/monitors/{id}': {
    request: async (world) => ({ params: { id: (await newMonitor(world)).id } }),
  },
}
