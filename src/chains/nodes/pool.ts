import type { Inspection, RefusedEndpoint } from '../facets/endpoints.ts'
import { NodeUnreachable } from './errors.ts'
import { costMs, noteFailure, noteSuccess, noteThrown } from './health.ts'
import type { NodeClient, NodeEndpoint, NodeRules } from './rules.ts'
import { openVerifier, requireAccepted, type Verify } from './verify.ts'

export type Pool<Node> = {
  endpoints: readonly NodeEndpoint<Node>[]
  /** Endpoints that are not in backoff. A rate limit is respected even when there is no other endpoint. */
  awake(): NodeEndpoint<Node>[]
  /** The same, ordered by cost, the best first. */
  best(): NodeEndpoint<Node>[]
  /** Verifies one endpoint if needed, asks it, and records its health. */
  ask<Result>(endpoint: NodeEndpoint<Node>, act: (node: Node) => Promise<Result>): Promise<Result>
  read<Result>(act: (node: Node) => Promise<Result>, preferred?: Node): Promise<Result>
  doubt(): void
  inspect(): Promise<readonly RefusedEndpoint[]>
}

export type PoolTerms<Node> = {
  rules: NodeRules<Node>
  blockTimeMs: number
  /** Without it, an endpoint is asked for its chain id only, and a single endpoint is not verified. */
  inspection: Inspection | undefined
}

const probeMs = 2_000
/** Factor on the cost of the endpoint in use: similar endpoints do not alternate. */
const keeping = 0.6

/** Asks an endpoint once it is verified, and records its health. */
async function askVerified<Node, Result>(
  endpoint: NodeEndpoint<Node>,
  verify: Verify<Node> | undefined,
  isFailure: (error: unknown) => boolean,
  act: (node: Node) => Promise<Result>,
): Promise<Result> {
  const { node, health } = endpoint
  let startedMs = performance.now()
  try {
    await verify?.(endpoint)
    startedMs = performance.now()
    const result = await act(node)
    noteSuccess(health, performance.now() - startedMs)
    return result
  } catch (error) {
    noteThrown(health, error, performance.now() - startedMs, isFailure)
    throw error
  }
}

/** A single endpoint. Unless refused, it is asked even after failures: there is no other. */
export function soleOf<Node extends NodeClient>(
  endpoint: NodeEndpoint<Node>,
  { rules, inspection }: PoolTerms<Node>,
): Pick<Pool<Node>, 'read' | 'doubt' | 'inspect'> {
  const verify = inspection && openVerifier(rules, inspection)
  return {
    read: async (act) => {
      requireAccepted(endpoint)
      return askVerified(endpoint, verify, rules.isFailure, act)
    },
    doubt: () => {
      endpoint.health.isVerified = false
    },
    inspect: async () => (verify ? refusedAmong([endpoint], verify) : []),
  }
}

export function poolOf<Node extends NodeClient>(
  endpoints: readonly NodeEndpoint<Node>[],
  { rules, blockTimeMs, inspection }: PoolTerms<Node>,
): Pool<Node> {
  const verify = openVerifier(rules, inspection)
  let inUse = endpoints[0]!
  let probedMs = Number.NEGATIVE_INFINITY
  const awake = () => {
    const nowMs = performance.now()
    return endpoints.filter(({ health }) => health.restsUntilMs <= nowMs)
  }
  const best = () => {
    const highest = Math.max(0, ...endpoints.map(({ health }) => health.head ?? 0))
    const cost = (endpoint: NodeEndpoint<Node>) =>
      costMs(endpoint.health, highest, blockTimeMs) * (endpoint === inUse ? keeping : 1)
    return awake().sort((a, b) => cost(a) - cost(b))
  }
  const ask = <Result>(endpoint: NodeEndpoint<Node>, act: (node: Node) => Promise<Result>) =>
    askVerified(endpoint, verify, rules.isFailure, act)
  const probe = () => {
    if (performance.now() - probedMs < probeMs) return
    probedMs = performance.now()
    for (const endpoint of awake())
      ask(endpoint, async (node) => {
        endpoint.health.head = await rules.headOf(node)
      }).catch(() => undefined)
  }
  const read = async <Result>(act: (node: Node) => Promise<Result>, preferred?: Node) => {
    probe()
    const ranked = best()
    const first = ranked.filter(({ node }) => node === preferred)
    let failure: unknown = new NodeUnreachable('every endpoint rests after failures')
    for (const endpoint of new Set([...first, ...ranked])) {
      try {
        const result = await ask(endpoint, act)
        inUse = endpoint
        return result
      } catch (error) {
        if (!rules.isEndpointFault(error)) throw error
        failure = error
      }
    }
    throw failure
  }
  const doubt = () => {
    const nowMs = performance.now()
    // An endpoint in backoff was not asked: to record a failure for each read without an endpoint would extend it for ever.
    if (inUse.health.restsUntilMs > nowMs) return
    noteFailure(inUse.health, new NodeUnreachable('what it says does not fit together'), nowMs)
  }
  const inspect = async () => (inspection ? refusedAmong(endpoints, verify) : [])
  return { endpoints, awake, best, ask, read, doubt, inspect }
}

/** Verifies every endpoint and returns the refused ones. An endpoint that does not answer is not refused. */
async function refusedAmong<Node>(
  endpoints: readonly NodeEndpoint<Node>[],
  verify: Verify<Node>,
): Promise<RefusedEndpoint[]> {
  await Promise.allSettled(endpoints.map(verify))
  return endpoints.flatMap(({ health }) => health.refusal ?? [])
}
