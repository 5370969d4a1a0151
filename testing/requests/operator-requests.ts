import { codeOf, makeMember, signInAs } from '#testing/builders/members'
import { listOf, makeApiKey, makeFreeze, makePolicyVersion } from '#testing/builders/operator-rows'
import { freshAddress, makeWallet, type World } from '#testing/builders/world'
import type { RequestSamples } from './sample-request.ts'

const nothing: RequestSamples = { request: async () => ({}) }

const inSession = async (world: World) => (await signInAs(world, await makeMember(world))).headers

/** Sample requests for the operations of operators that lists of their own do not have. */
export const operatorRequests: Record<string, RequestSamples> = {
  'GET /operator/auditEntries': nothing,
  'GET /operator/auditVerification': nothing,
  'GET /operator/screeningLists': nothing,
  'GET /operator/screeningListVersions': {
    request: async (world) => ({ query: { list: listOf(world) } }),
  },
  'GET /operator/screeningListEntries': {
    request: async () => ({ query: { chain: 'ETH-SEPOLIA', address: freshAddress() } }),
  },
  'GET /operator/policies': nothing,
  'GET /operator/policyDecisions': nothing,
  'GET /operator/reconciliations': nothing,
  'GET /operator/apiKeys': nothing,
  'GET /operator/treasury': nothing,
  'GET /operator/rebalancings': nothing,
  'GET /operator/rebalancingPolicy': nothing,
  'PUT /operator/rebalancingPolicy': {
    request: async () => ({ body: { allowed: true, max: '1000', reserve: '50' } }),
  },
  'GET /operator/flow': nothing,
  'GET /operator/search': { request: async (world) => ({ query: { q: (await world.wallet()).address } }) },
  'GET /operator/overview': nothing,
  'GET /operator/session/ways': nothing,
  'GET /operator/session': { request: async (world) => ({ headers: await inSession(world) }) },
  'POST /operator/session': {
    request: async (world) => ({ body: await makeMember(world) }),
    // A try is counted before it is compared, and a right one takes the count away.
    recordedRefusal: /password is wrong|wrong sign-ins|matches no entity/,
  },
  'PUT /operator/session': {
    request: async (world) => ({
      headers: await inSession(world),
      body: { entityId: world.tenant.entityId },
    }),
  },
  'POST /operator/session/codes': {
    request: async (world) => {
      const member = await makeMember(world)
      const { headers } = await signInAs(world, member)
      return { headers, body: { password: member.password } }
    },
    recordedRefusal: /password is wrong|wrong sign-ins/,
  },
  'PUT /operator/session/codes': {
    request: async (world) => {
      const member = await makeMember(world)
      const { headers, http } = await signInAs(world, member)
      const { body } = await http('POST', '/operator/session/codes', {
        body: { password: member.password },
      })
      return { headers, body: { pending: body.data.pending, code: codeOf(body.data.secret) } }
    },
  },
  'DELETE /operator/session': { request: async (world) => ({ headers: await inSession(world) }) },
  'GET /operator/policies/{id}': {
    request: async (world) => {
      await makePolicyVersion(world)
      const [{ id }] = await world.call('GET', '/operator/policies')
      return { params: { id } }
    },
  },
  'POST /operator/policies': {
    request: async (world) => ({
      body: { subjectId: (await world.wallet()).id, rules: { mode: 'permissive' } },
    }),
  },
  'POST /operator/policies/dryRun': {
    request: async (world) => ({
      body: { subjectId: world.tenant.entityId, rules: { mode: 'permissive' }, past: 5 },
    }),
  },
  'GET /operator/freezes': nothing,
  'POST /operator/freezes': {
    request: async (world) => ({ body: { subjectId: (await makeWallet(world)).id } }),
  },
  'DELETE /operator/freezes/{id}': {
    request: async (world) => ({ params: { id: (await makeFreeze(world)).id } }),
  },
  'POST /operator/apiKeys': { request: async () => ({ body: { scopes: ['api'] } }) },
  'GET /operator/apiKeys/{id}': {
    request: async (world) => ({ params: { id: (await makeApiKey(world)).id } }),
  },
  'DELETE /operator/apiKeys/{id}': {
    request: async (world) => ({ params: { id: (await makeApiKey(world)).id } }),
  },
}
