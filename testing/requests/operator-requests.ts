import { makeApiKey } from '#testing/builders/operator-rows'
import type { RequestSamples } from './sample-request.ts'

const nothing: RequestSamples = { request: async () => ({}) }

/** Sample requests for the operations of operators that lists of their own do not have. */
export const operatorRequests: Record<string, RequestSamples> = {
  'GET /operator/policies': nothing,
  'GET /operator/policyDecisions': nothing,
  'GET /operator/reconciliations': nothing,
  'GET /operator/apiKeys': nothing,
  'GET /operator/flow': nothing,
  'GET /operator/search': { request: async (world) => ({ query: { q: (await world.wallet()).address } }) },
  'GET /operator/overview': nothing,
  'POST /operator/apiKeys': { request: async () => ({ body: { scopes: ['api'] } }) },
  'DELETE /operator/apiKeys/{id}': {
    request: async (world) => ({ params: { id: (await makeApiKey(world)).id } }),
  },
}
