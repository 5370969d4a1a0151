import type { Agreement, ContentAgreement, HashAt } from '../facets/blocks.ts'
import { NodeUnreachable } from './errors.ts'
import { noteFailure } from './health.ts'
import type { Pool } from './pool.ts'
import { type NodeClient, type NodeEndpoint, type NodeRules, noSuchBlock } from './rules.ts'

/** The words of an endpoint; `isAnswer`: they say neither that it failed nor that it has no such block. */
type Opinion<Node> = { endpoint: NodeEndpoint<Node>; said: string; isAnswer: boolean }
type Vote<Node> = Opinion<Node> & { agrees: boolean; head?: number }

const shownOpinion = <Node extends NodeClient>({ endpoint, said }: Opinion<Node>) =>
  `${endpoint.node.host}: ${said}`

/** See `Blocks.agreedUpTo`. */
export async function agreedUpTo<Node extends NodeClient>(
  pool: Pool<Node>,
  rules: NodeRules<Node>,
  needed: number,
  number: number,
  hashAt: HashAt,
): Promise<Agreement> {
  const votes = await votesOn(pool, rules, number, await hashAt(number))
  outvote(votes, needed)
  if (votes.filter(({ agrees }) => agrees).length >= needed) return { upTo: number }
  // Some endpoints may only lag: a lower block that enough of them have reached can still be agreed on.
  const reached = votes.flatMap(({ head }) => head ?? []).sort((a, b) => b - a)[needed - 1]
  if (reached !== undefined && reached < number) {
    const lower = await votesOn(pool, rules, reached, await hashAt(reached))
    if (lower.filter(({ agrees }) => agrees).length >= needed) return { upTo: reached }
  }
  return { upTo: undefined, said: votes.map(shownOpinion) }
}

/** The vote of each endpoint on the block at this height; an endpoint without an answer does not agree. */
const votesOn = <Node extends NodeClient>(
  pool: Pool<Node>,
  rules: NodeRules<Node>,
  number: number,
  hash: string | undefined,
): Promise<Vote<Node>[]> =>
  Promise.all(
    pool.endpoints.map(async (endpoint): Promise<Vote<Node>> => {
      if (!pool.awake().includes(endpoint))
        return { endpoint, agrees: false, said: 'rests after failures', isAnswer: false }
      try {
        const { said, head } = await pool.ask(endpoint, (node) => rules.voteOn(node, number))
        // Without a stored hash of this height there is nothing to contradict: every answer counts as agreeing.
        const agrees = hash === undefined || said === hash
        return { endpoint, agrees, said, isAnswer: said !== noSuchBlock, head }
      } catch (error) {
        return { endpoint, agrees: false, said: (error as Error).message, isAnswer: false }
      }
    }),
  )

/**
 * Records a failure of each endpoint whose hash differs from that of the quorum: it is on a fork, or lies, and backs off.
 * Returns the hash of the quorum, or `undefined` without one.
 */
function outvote<Node>(
  opinions: readonly Opinion<Node>[],
  needed: number,
  restMs?: number,
): string | undefined {
  const named = opinions.filter(({ isAnswer }) => isAnswer)
  const majority = named.find(({ said }) => named.filter((other) => other.said === said).length >= needed)
  if (!majority) return undefined
  const reason = new NodeUnreachable('outvoted', restMs)
  for (const { endpoint, said } of named)
    if (said !== majority.said) noteFailure(endpoint.health, reason, performance.now())
  return majority.said
}

/** Backoff of an endpoint that reports other content of the same block than the quorum: that is not a fork. */
const liarRestMs = 60_000

/** Asks as many endpoints as the quorum needs, and the others only when these do not agree. */
export async function agreedOn<Node extends NodeClient>(
  pool: Pool<Node>,
  needed: number,
  own: string,
  ask: (node: Node) => Promise<string>,
): Promise<ContentAgreement> {
  const opinions: Opinion<Node>[] = []
  const ranked = pool.best()
  for (const some of [ranked.slice(0, needed), ranked.slice(needed)]) {
    const asking = some.map(async (endpoint): Promise<Opinion<Node>> => {
      try {
        const said = await pool.ask(endpoint, ask)
        return { endpoint, said, isAnswer: said !== noSuchBlock }
      } catch (error) {
        return { endpoint, said: (error as Error).message, isAnswer: false }
      }
    })
    opinions.push(...(await Promise.all(asking)))
    const agreeing = opinions.filter(({ said }) => said === own).length
    if (agreeing >= needed) return { verdict: 'agreed', said: [] }
  }
  const verdict = outvote(opinions, needed, liarRestMs) === undefined ? 'open' : 'outvoted'
  return { verdict, said: opinions.map(shownOpinion) }
}
