import type { Inspection } from '../facets/endpoints.ts'
import { NodeUnreachable } from './errors.ts'
import type { NodeEndpoint, NodeRules } from './rules.ts'

/** Backoff of an endpoint of another network: doubles with each refusal, up to one request per minute. */
const refusedRestMs = { first: 1_000, most: 60_000 }

export type Verify<Node> = (endpoint: NodeEndpoint<Node>) => Promise<void>

/**
 * Verifies endpoints before use: the first time, and after each failure, since a URL may lead to another chain, also later.
 * Concurrent calls to the same endpoint wait for one verification.
 */
export function openVerifier<Node>(rules: NodeRules<Node>, inspection: Inspection | undefined): Verify<Node> {
  const underWay = new Map<NodeEndpoint<Node>, Promise<void>>()
  return async (endpoint) => {
    if (endpoint.health.isVerified) return
    let verifying = underWay.get(endpoint)
    if (!verifying) {
      verifying = verify(endpoint, rules, inspection).finally(() => underWay.delete(endpoint))
      underWay.set(endpoint, verifying)
    }
    await verifying
  }
}

async function verify<Node>(
  { node, health }: NodeEndpoint<Node>,
  rules: NodeRules<Node>,
  inspection: Inspection | undefined,
): Promise<void> {
  if (inspection) {
    const refusal = await rules.inspect(node)
    if (refusal) {
      if (health.refusal?.reason !== refusal.reason) inspection.refused(refusal)
      health.refusal = refusal
      const restMs = Math.min(refusedRestMs.most, refusedRestMs.first * 2 ** Math.min(health.refusals, 10))
      health.refusals += 1
      throw new NodeUnreachable(wordsOf(refusal), restMs)
    }
    if (health.refusal) inspection.accepted(health.refusal)
    health.refusal = undefined
    health.refusals = 0
  } else await rules.checkIdentity(node)
  health.isVerified = true
}

/** Throws during the backoff of an endpoint of another network. */
export function requireAccepted({ health }: Pick<NodeEndpoint<unknown>, 'health'>): void {
  if (health.refusal && performance.now() < health.restsUntilMs)
    throw new NodeUnreachable(wordsOf(health.refusal))
}

const wordsOf = ({ endpoint, reason }: { endpoint: string; reason: string }) =>
  `${endpoint} is not used: ${reason}`
