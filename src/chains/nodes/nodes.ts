/**
 * Several endpoints of one chain behind one interface. Reads go to the endpoint that performs best and to the next one on a
 * failure; a failed endpoint backs off. Signed transactions go to all endpoints not in backoff: one acceptance is enough.
 * An irreversible conclusion needs a quorum of endpoints that name the same block.
 */
import type { Hex } from '#lib/hex'
import type { Agreement, ContentAgreement, HashAt } from '../facets/blocks.ts'
import type { EndpointHealth, Inspection, RefusedEndpoint } from '../facets/endpoints.ts'
import type { BroadcastOutcome } from '../facets/payments.ts'
import { agreedOn, agreedUpTo } from './agreement.ts'
import { NodeUnreachable } from './errors.ts'
import { newHealth, percentileMs } from './health.ts'
import { combineOutcomes } from './outcomes.ts'
import { type Pool, type PoolTerms, poolOf, soleOf } from './pool.ts'
import type { NodeClient, NodeEndpoint, NodeRules } from './rules.ts'

export type Nodes<Node> = {
  /** `preferred`: the node that is asked first unless it is in backoff, whatever performs best. */
  read<Result>(act: (node: Node) => Promise<Result>, preferred?: Node): Promise<Result>
  /** Asks every endpoint that is not in backoff. */
  each<Result>(act: (node: Node) => Promise<Result>): Promise<PromiseSettledResult<Result>[]>
  broadcast(raws: readonly Hex[]): Promise<BroadcastOutcome[]>
  /** Reports that the last read was inconsistent: the endpoint that answered it backs off, as after a failure. */
  doubt(): void
  /** See `NodeEndpoints.inspect`. */
  inspect(): Promise<readonly RefusedEndpoint[]>
  /** See `Blocks.agreedUpTo`. */
  agreedUpTo(number: number, hashAt: HashAt): Promise<Agreement>
  /** The quorum: number of endpoints that must agree. */
  agreeing: number
  /** Whether a quorum of endpoints, each asked separately, gives the answer `said`. */
  agreedOn(said: string, ask: (node: Node) => Promise<string>): Promise<ContentAgreement>
  /** Recent health of each endpoint. */
  health(): EndpointHealth[]
  close(): void
}

type NodesInput<Node> = {
  nodes: readonly Node[]
  rules: NodeRules<Node>
  blockTimeMs: number
  inspection?: Inspection | undefined
  /** Quorum of endpoints that must name the same block; more than half when absent. */
  agree?: number | undefined
}

export function openNodes<Node extends NodeClient>(input: NodesInput<Node>): Nodes<Node> {
  const { nodes, rules, blockTimeMs, inspection } = input
  const endpoints = nodes.map((node) => ({ node, health: newHealth() }))
  const [first] = endpoints
  if (!first) throw new Error('a chain needs at least one endpoint')
  const terms = { rules, blockTimeMs, inspection }
  const shared = {
    health: () => shownHealth(endpoints),
    close: () => {
      for (const node of nodes) node.close()
    },
  }
  return {
    ...shared,
    ...(endpoints.length > 1 ? several(endpoints, terms, input.agree) : single(first, terms)),
  }
}

type Asking<Node> = Omit<Nodes<Node>, 'health' | 'close'>

function single<Node extends NodeClient>(endpoint: NodeEndpoint<Node>, terms: PoolTerms<Node>): Asking<Node> {
  const sole = soleOf(endpoint, terms)
  return {
    ...sole,
    each: (act) => Promise.allSettled([sole.read(act)]),
    broadcast: async (raws) => {
      try {
        return await sole.read((node) => terms.rules.send(node, raws))
      } catch (error) {
        if (!(error instanceof NodeUnreachable)) throw error
        return raws.map(() => ({ kind: 'unknown', message: error.message }))
      }
    },
    agreedUpTo: async (number) => ({ upTo: number }),
    agreeing: 1,
    agreedOn: async (said, ask) => {
      const now = await sole.read(ask)
      return { verdict: now === said ? 'agreed' : 'outvoted', said: [`${endpoint.node.host}: ${now}`] }
    },
  }
}

function several<Node extends NodeClient>(
  endpoints: readonly NodeEndpoint<Node>[],
  terms: PoolTerms<Node>,
  agree: number | undefined,
): Asking<Node> {
  const pool = poolOf(endpoints, terms)
  const { rules } = terms
  const needed = Math.min(endpoints.length, Math.max(1, agree ?? Math.floor(endpoints.length / 2) + 1))
  return {
    read: pool.read,
    doubt: pool.doubt,
    inspect: pool.inspect,
    each: (act) => Promise.allSettled(pool.awake().map((endpoint) => pool.ask(endpoint, act))),
    broadcast: (raws) => sendToAll(pool, rules, raws),
    agreedUpTo: (number, hashAt) => agreedUpTo(pool, rules, needed, number, hashAt),
    agreeing: needed,
    agreedOn: (said, ask) => agreedOn(pool, needed, said, ask),
  }
}

/** Resolves as soon as every transaction is accepted by some endpoint, else when every endpoint has answered. */
function sendToAll<Node>(
  pool: Pool<Node>,
  rules: NodeRules<Node>,
  raws: readonly Hex[],
): Promise<BroadcastOutcome[]> {
  const given: BroadcastOutcome[][] = []
  const combined = () => raws.map((_, index) => combineOutcomes(given.map((outcomes) => outcomes[index]!)))
  return new Promise((resolve) => {
    const sendings = pool.awake().map(async (endpoint) => {
      let asked = false
      try {
        given.push(
          await pool.ask(endpoint, (node) => {
            asked = true
            return rules.send(node, raws)
          }),
        )
      } catch (error) {
        // An endpoint that failed before the send has no part in the outcome.
        if (asked) given.push(raws.map(() => ({ kind: 'unknown', message: (error as Error).message })))
      }
      const soFar = combined()
      if (soFar.every(({ kind }) => kind === 'accepted')) resolve(soFar)
    })
    Promise.allSettled(sendings).then(() => resolve(combined()))
  })
}

function shownHealth<Node extends NodeClient>(endpoints: readonly NodeEndpoint<Node>[]): EndpointHealth[] {
  const nowMs = performance.now()
  const headOf = ({ health }: NodeEndpoint<Node>) => (health.restsUntilMs > nowMs ? undefined : health.head)
  const highest = Math.max(0, ...endpoints.map((endpoint) => headOf(endpoint) ?? 0))
  return endpoints.map((endpoint) => {
    const { node, health } = endpoint
    const headNumber = headOf(endpoint)
    return {
      host: node.host,
      errorsRatio: health.errors,
      latencyMs: health.latencyMs,
      p50Ms: percentileMs(health, 0.5),
      p95Ms: percentileMs(health, 0.95),
      headNumber,
      lagBlocks: headNumber === undefined ? undefined : highest - headNumber,
    }
  })
}
