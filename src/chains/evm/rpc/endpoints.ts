/**
 * Several endpoints of one chain behind one interface. Reads go to the endpoint that performs best and to the next one on a
 * failure; a failed endpoint backs off. Signed transactions go to all endpoints not in backoff: one acceptance is enough.
 * An irreversible conclusion needs a quorum of endpoints that name the same block.
 */
import type { Hex } from '#lib/hex'
import type { CrosschainAddresses } from '../../crosschain/crosschain.ts'
import type { Agreement, ContentAgreement, Finalized, HashAt } from '../../facets/blocks.ts'
import type { EndpointHealth, Inspection, RefusedEndpoint } from '../../facets/endpoints.ts'
import type { BroadcastOutcome } from '../../facets/payments.ts'
import type { Network } from '../../networks/index.ts'
import { broadcast, combineOutcomes, sendRaws } from './broadcast.ts'
import {
  costMs,
  type Health,
  isEndpointFault,
  isLimited,
  newHealth,
  noteFailure,
  noteSuccess,
  noteThrown,
  percentileMs,
} from './endpoint-health.ts'
import { type FinalTags, readFinalTag } from './finalized.ts'
import { readInteger, toQuantity } from './quantities.ts'
import { createRpc, type Rpc, RpcError, RpcUnreachable } from './rpc.ts'
import type { AnswerLimits, RpcCall } from './rpc-errors.ts'
import { checkChainId, openVerifier, type RpcEndpoint, requireAccepted } from './verify.ts'

export type Endpoints = Rpc & {
  broadcast(raws: readonly Hex[]): Promise<BroadcastOutcome[]>
  /** Reports that the last read was inconsistent: the endpoint that answered it backs off, as after a failure. */
  doubt(): void
  /** See `Chain.inspect`. */
  inspect(): Promise<readonly RefusedEndpoint[]>
  /** See `Chain.agreedUpTo`. */
  agreedUpTo(number: number, hashAt: HashAt): Promise<Agreement>
  /** The finalized block of each endpoint that is not in backoff, and the quorum. */
  finalTags(): Promise<FinalTags>
  /** The quorum: number of endpoints that must agree. */
  agreeing: number
  /** Whether a quorum of endpoints, each asked separately, gives the answer `said`. */
  agreedOn(said: string, ask: (rpc: Rpc) => Promise<string>): Promise<ContentAgreement>
  /** Recent health of each endpoint. */
  health(): EndpointHealth[]
}

type EndpointsInput = {
  urls: readonly string[]
  network: Network
  /** Without it, an endpoint is asked for its chain id only, and a single endpoint is not verified. */
  inspection?: Inspection | undefined
  /** Contracts that an inspected endpoint has to have besides the tokens. */
  crosschain?: CrosschainAddresses | undefined
  /** Quorum of endpoints that must name the same block; more than half when absent. */
  agree?: number | undefined
  timeoutMs?: number | undefined
  /** Maximum calls of one request; learnt when absent. */
  batchMax?: number | undefined
}

const agreementTimeoutMs = 5_000
const probeMs = 2_000
/** Factor on the cost of the endpoint in use: similar endpoints do not alternate. */
const keeping = 0.6

export function createEndpoints(input: EndpointsInput): Endpoints {
  const { urls } = input
  const [first] = urls
  if (!first) throw new Error('a chain needs at least one endpoint')
  if (urls.length > 1) return severalEndpoints(input)
  const endpoint = { rpc: createRpc(first, input), health: newHealth() }
  const verify = input.inspection && openVerifier(input)
  const rpc = watched(endpoint, verify)
  return {
    ...rpc,
    broadcast: (raws) => broadcast(rpc, raws),
    doubt: () => {
      endpoint.health.isVerified = false
    },
    inspect: async () => (verify ? refusedAmong([endpoint], verify) : []),
    agreedUpTo: async (number) => ({ upTo: number }),
    finalTags: async () => ({ tags: [await readFinalTag(rpc).catch(() => 'unknown')], needed: 1 }),
    agreeing: 1,
    agreedOn: async (said, ask) => {
      const now = await ask(rpc)
      return { verdict: now === said ? 'agreed' : 'outvoted', said: [`${rpc.host}: ${now}`] }
    },
    health: () => shownHealth([endpoint]),
  }
}

/** Wraps a single endpoint to record its health. Unless refused, it is asked even after failures: there is no other. */
function watched(endpoint: RpcEndpoint, verify: Verify | undefined): Rpc {
  const { rpc, health } = endpoint
  const noting = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
    requireAccepted(endpoint)
    let startedMs = performance.now()
    try {
      await verify?.(endpoint)
      startedMs = performance.now()
      const result = await ask()
      noteSuccess(health, performance.now() - startedMs)
      return result
    } catch (error) {
      noteThrown(health, error, performance.now() - startedMs)
      throw error
    }
  }
  return {
    ...rpc,
    call: (method, params, limits) => noting(() => rpc.call(method, params, limits)),
    batch: (calls, limits) => noting(() => rpc.batch(calls, limits)),
  }
}

type Verify = ReturnType<typeof openVerifier>

/** Verifies every endpoint and returns the refused ones. An endpoint that does not answer is not refused. */
async function refusedAmong(endpoints: readonly RpcEndpoint[], verify: Verify): Promise<RefusedEndpoint[]> {
  await Promise.allSettled(endpoints.map(verify))
  return endpoints.flatMap(({ health }) => health.refusal ?? [])
}

function shownHealth(endpoints: readonly RpcEndpoint[]): EndpointHealth[] {
  const nowMs = performance.now()
  const headOf = ({ health }: RpcEndpoint) => (health.restsUntilMs > nowMs ? undefined : health.head)
  const highest = Math.max(0, ...endpoints.map((endpoint) => headOf(endpoint) ?? 0))
  return endpoints.map((endpoint) => {
    const { rpc, health } = endpoint
    const headNumber = headOf(endpoint)
    return {
      host: rpc.host,
      errorsRatio: health.errors,
      latencyMs: health.latencyMs,
      p50Ms: percentileMs(health, 0.5),
      p95Ms: percentileMs(health, 0.95),
      headNumber,
      lagBlocks: headNumber === undefined ? undefined : highest - headNumber,
    }
  })
}

function severalEndpoints(input: EndpointsInput): Endpoints {
  const endpoints = input.urls.map((url) => ({ rpc: createRpc(url, input), health: newHealth() }))
  const pool = poolOf(endpoints, input)
  return {
    url: endpoints[0]!.rpc.url,
    host: endpoints[0]!.rpc.host,
    call: <Result>(method: string, params: unknown[], limits?: AnswerLimits) =>
      pool.read((rpc) => rpc.call<Result>(method, params, limits)),
    batch: <Result>(calls: readonly RpcCall[], limits?: AnswerLimits) =>
      pool.read(async (rpc) => {
        const answers = await rpc.batch<Result>(calls, limits)
        const limited = answers.find(isLimited)
        if (limited) throw limited
        return answers
      }),
    batchMax: () => Math.min(...endpoints.map(({ rpc }) => rpc.batchMax())),
    broadcast: (raws) => sendToAll(pool, raws),
    doubt: pool.doubt,
    inspect: pool.inspect,
    agreedUpTo: (number, hashAt) => agreedUpTo(pool, input, number, hashAt),
    finalTags: async () => ({ tags: await finalTagsOf(pool), needed: neededOf(input) }),
    agreeing: neededOf(input),
    agreedOn: (said, ask) => agreedOn(pool, neededOf(input), said, ask),
    health: () => shownHealth(endpoints),
    close: () => {
      for (const { rpc } of endpoints) rpc.close()
    },
  }
}

type Pool = {
  endpoints: readonly RpcEndpoint[]
  /** Endpoints that are not in backoff. A rate limit is respected even when there is no other endpoint. */
  awake(): RpcEndpoint[]
  /** The same, ordered by cost, the best first. */
  best(): RpcEndpoint[]
  /** Verifies one endpoint if needed, asks it, and records its health. */
  ask<Result>(endpoint: RpcEndpoint, act: (rpc: Rpc) => Promise<Result>): Promise<Result>
  read<Result>(act: (rpc: Rpc) => Promise<Result>): Promise<Result>
  doubt(): void
  inspect(): Promise<readonly RefusedEndpoint[]>
}

function poolOf(endpoints: readonly RpcEndpoint[], input: EndpointsInput): Pool {
  const { chainId, blockTimeMs } = input.network
  const verify = openVerifier(input)
  let inUse = endpoints[0]!
  let probedMs = Number.NEGATIVE_INFINITY
  const awake = () => {
    const nowMs = performance.now()
    return endpoints.filter(({ health }) => health.restsUntilMs <= nowMs)
  }
  const best = () => {
    const highest = Math.max(0, ...endpoints.map(({ health }) => health.head ?? 0))
    const cost = (endpoint: RpcEndpoint) =>
      costMs(endpoint.health, highest, blockTimeMs) * (endpoint === inUse ? keeping : 1)
    return awake().sort((a, b) => cost(a) - cost(b))
  }
  const ask = async <Result>(endpoint: RpcEndpoint, act: (rpc: Rpc) => Promise<Result>) => {
    const { rpc, health } = endpoint
    let startedMs = performance.now()
    try {
      await verify(endpoint)
      startedMs = performance.now()
      const result = await act(rpc)
      noteSuccess(health, performance.now() - startedMs)
      return result
    } catch (error) {
      noteThrown(health, error, performance.now() - startedMs)
      throw error
    }
  }
  const probe = () => {
    if (performance.now() - probedMs < probeMs) return
    probedMs = performance.now()
    for (const endpoint of awake())
      ask(endpoint, (rpc) => look(rpc, endpoint.health, chainId)).catch(() => undefined)
  }
  const read = async <Result>(act: (rpc: Rpc) => Promise<Result>) => {
    probe()
    let failure: unknown = new RpcUnreachable('every endpoint rests after failures')
    for (const endpoint of best()) {
      try {
        const result = await ask(endpoint, act)
        inUse = endpoint
        return result
      } catch (error) {
        if (!isEndpointFault(error)) throw error
        failure = error
      }
    }
    throw failure
  }
  const doubt = () => {
    const nowMs = performance.now()
    // An endpoint in backoff was not asked: to record a failure for each read without an endpoint would extend it for ever.
    if (inUse.health.restsUntilMs > nowMs) return
    noteFailure(inUse.health, new RpcUnreachable('what it says does not fit together'), nowMs)
  }
  const inspect = async () => (input.inspection ? refusedAmong(endpoints, verify) : [])
  return { endpoints, awake, best, ask, read, doubt, inspect }
}

async function look(rpc: Rpc, health: Health, chainId: number): Promise<void> {
  const [id, head] = await rpc.batch([
    { method: 'eth_chainId', params: [] },
    { method: 'eth_blockNumber', params: [] },
  ])
  if (id instanceof RpcError || head instanceof RpcError) throw new RpcUnreachable(`${rpc.host}: no head`)
  checkChainId(rpc, id, chainId)
  health.head = readInteger(head, 'block number')
}

/** Resolves as soon as every transaction is accepted by some endpoint, else when every endpoint has answered. */
function sendToAll(pool: Pool, raws: readonly Hex[]): Promise<BroadcastOutcome[]> {
  const given: BroadcastOutcome[][] = []
  const combined = () => raws.map((_, index) => combineOutcomes(given.map((outcomes) => outcomes[index]!)))
  return new Promise((resolve) => {
    const sendings = pool.awake().map(async (endpoint) => {
      let asked = false
      try {
        given.push(
          await pool.ask(endpoint, (rpc) => {
            asked = true
            return sendRaws(rpc, raws)
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

async function agreedUpTo(
  pool: Pool,
  input: EndpointsInput,
  number: number,
  hashAt: HashAt,
): Promise<Agreement> {
  const needed = neededOf(input)
  const votes = await votesOn(pool, number, await hashAt(number))
  outvote(votes, needed)
  if (votes.filter(({ agrees }) => agrees).length >= needed) return { upTo: number }
  // Some endpoints may only lag: a lower block that enough of them have reached can still be agreed on.
  const reached = votes.flatMap(({ head }) => head ?? []).sort((a, b) => b - a)[needed - 1]
  if (reached !== undefined && reached < number) {
    const lower = await votesOn(pool, reached, await hashAt(reached))
    if (lower.filter(({ agrees }) => agrees).length >= needed) return { upTo: reached }
  }
  return { upTo: undefined, said: votes.map(shownOpinion) }
}

const neededOf = ({ agree, urls }: EndpointsInput) =>
  Math.min(urls.length, Math.max(1, agree ?? Math.floor(urls.length / 2) + 1))

const finalTagsOf = (pool: Pool): Promise<Finalized[]> =>
  Promise.all(
    pool.awake().map((endpoint) => pool.ask(endpoint, readFinalTag).catch((): Finalized => 'unknown')),
  )

type Opinion = { endpoint: RpcEndpoint; said: string }
type Vote = Opinion & { agrees: boolean; head?: number }

const shownOpinion = ({ endpoint, said }: Opinion) => `${endpoint.rpc.host}: ${said}`

/**
 * Records a failure of each endpoint whose hash differs from that of the quorum: it is on a fork, or lies, and backs off.
 * Returns the hash of the quorum, or `undefined` without one.
 */
function outvote(opinions: readonly Opinion[], needed: number, restMs?: number): string | undefined {
  const named = opinions.filter(({ said }) => said.startsWith('0x'))
  const majority = named.find(({ said }) => named.filter((other) => other.said === said).length >= needed)
  if (!majority) return undefined
  const reason = new RpcUnreachable('outvoted', restMs)
  for (const { endpoint, said } of named)
    if (said !== majority.said) noteFailure(endpoint.health, reason, performance.now())
  return majority.said
}

/** Backoff of an endpoint that reports other content of the same block than the quorum: that is not a fork. */
const liarRestMs = 60_000

/** Asks as many endpoints as the quorum needs, and the others only when these do not agree. */
async function agreedOn(
  pool: Pool,
  needed: number,
  own: string,
  ask: (rpc: Rpc) => Promise<string>,
): Promise<ContentAgreement> {
  const opinions: Opinion[] = []
  const ranked = pool.best()
  for (const some of [ranked.slice(0, needed), ranked.slice(needed)]) {
    const asking = some.map(async (endpoint): Promise<Opinion> => {
      const said = await pool.ask(endpoint, ask).catch((error: Error) => error.message)
      return { endpoint, said }
    })
    opinions.push(...(await Promise.all(asking)))
    const agreeing = opinions.filter(({ said }) => said === own).length
    if (agreeing >= needed) return { verdict: 'agreed', said: [] }
  }
  const verdict = outvote(opinions, needed, liarRestMs) === undefined ? 'open' : 'outvoted'
  return { verdict, said: opinions.map(shownOpinion) }
}

/** The vote of each endpoint on the block at this height; an endpoint without an answer does not agree. */
const votesOn = (pool: Pool, number: number, hash: string | undefined): Promise<Vote[]> =>
  Promise.all(
    pool.endpoints.map(async (endpoint): Promise<Vote> => {
      if (!pool.awake().includes(endpoint)) return { endpoint, agrees: false, said: 'rests after failures' }
      const calls = [
        { method: 'eth_getBlockByNumber', params: [toQuantity(number), false] },
        { method: 'eth_blockNumber', params: [] },
      ]
      try {
        const [block, head] = await pool.ask(endpoint, (rpc) =>
          rpc.batch<unknown>(calls, { timeoutMs: agreementTimeoutMs }),
        )
        const said = String((block as { hash?: unknown } | null)?.hash ?? 'has no such block').toLowerCase()
        // Without a stored hash of this height there is nothing to contradict: every answer counts as agreeing.
        const agrees = hash === undefined || said === hash
        return { endpoint, agrees, said, head: readInteger(head, 'block number') }
      } catch (error) {
        return { endpoint, agrees: false, said: (error as Error).message }
      }
    }),
  )
