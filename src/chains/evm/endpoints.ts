/**
 * Several endpoints of one chain as one. Reads go to the one that answers best and over to the next when it fails; what
 * fails rests for a while. Signed bytes go to all that are well: one that takes them is enough. Before something is
 * concluded that cannot be undone, so many of them must name the same block.
 */
import type { Hex } from '#lib/hex'
import type {
  Agreement,
  BroadcastOutcome,
  ContentAgreement,
  EndpointHealth,
  Finalized,
  Inspection,
  RefusedEndpoint,
} from '../chain.ts'
import type { Network } from '../network.ts'
import { broadcast, combineOutcomes, sendRaws } from './broadcast.ts'
import {
  costMs,
  type Health,
  isItsOwn,
  isLimited,
  newHealth,
  noteFailure,
  noteSuccess,
  noteThrown,
  percentileMs,
} from './endpoint-health.ts'
import { type FinalTags, readFinalTag } from './finalized.ts'
import { integer, toQuantity } from './quantities.ts'
import { createRpc, type Rpc, RpcError, RpcUnreachable } from './rpc.ts'
import type { Limits, RpcCall } from './rpc-errors.ts'
import { type Endpoint, openVerifier, requireAccepted, requireChain } from './verify.ts'

export type Endpoints = Rpc & {
  broadcast(raws: readonly Hex[]): Promise<BroadcastOutcome[]>
  /** What was read last does not fit together: whoever gave it rests, as after a failure. */
  doubt(): void
  /** See `Chain.inspect`. */
  inspect(): Promise<readonly RefusedEndpoint[]>
  /** See `Chain.agreedUpTo`. */
  agreedUpTo(number: number, hashAt: HashAt): Promise<Agreement>
  /** The finalized block of each endpoint, and how many endpoints have to agree. */
  finalTags(): Promise<FinalTags>
  /** How many endpoints have to agree. */
  agreeing: number
  /** Whether so many of them say this, when each is asked by itself. */
  agreedOn(said: string, ask: (rpc: Rpc) => Promise<string>): Promise<ContentAgreement>
  /** How each of them did lately. */
  health(): EndpointHealth[]
}

export type EndpointsInput = {
  urls: readonly string[]
  network: Network
  /** Without it, an endpoint is only asked for its chain id, and one that is alone for nothing. */
  inspection?: Inspection | undefined
  /** How many must name the same block; more than half when left out. */
  agree?: number | undefined
  timeoutMs?: number | undefined
  /** How many calls each takes in one request; learnt when left out. */
  batchMax?: number | undefined
}

type HashAt = (number: number) => Promise<string | undefined>

const agreementTimeoutMs = 5_000
const probeMs = 2_000
/** Who answers now is kept until another one is so much better: two that are alike do not take turns. */
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
    health: () => [shownHealth(endpoint)],
  }
}

/** The same endpoint, with note taken of how it does. Unless it is refused it is asked whatever that is: there is no other. */
function watched(endpoint: Endpoint, verify: Verify | undefined): Rpc {
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
async function refusedAmong(endpoints: readonly Endpoint[], verify: Verify): Promise<RefusedEndpoint[]> {
  await Promise.allSettled(endpoints.map(verify))
  return endpoints.flatMap(({ health }) => health.refusal ?? [])
}

const shownHealth = ({ rpc, health }: Endpoint): EndpointHealth => ({
  host: rpc.host,
  errorsRatio: health.errors,
  latencyMs: health.latencyMs,
  p50Ms: percentileMs(health, 0.5),
  p95Ms: percentileMs(health, 0.95),
})

function severalEndpoints(input: EndpointsInput): Endpoints {
  const endpoints = input.urls.map((url) => ({ rpc: createRpc(url, input), health: newHealth() }))
  const pool = poolOf(endpoints, input)
  return {
    url: endpoints[0]!.rpc.url,
    host: endpoints[0]!.rpc.host,
    call: <Result>(method: string, params: unknown[], limits?: Limits) =>
      pool.read((rpc) => rpc.call<Result>(method, params, limits)),
    batch: <Result>(calls: readonly RpcCall[], limits?: Limits) =>
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
    health: () => endpoints.map(shownHealth),
    close: () => {
      for (const { rpc } of endpoints) rpc.close()
    },
  }
}

type Pool = {
  endpoints: readonly Endpoint[]
  /** Those that do not rest: one that asked to be left alone is, also when there is no other. */
  awake(): Endpoint[]
  /** The same, the one that answers best first. */
  best(): Endpoint[]
  /** Asks one endpoint, after it said which chain it is of, and takes note of how it did. */
  ask<Result>(endpoint: Endpoint, act: (rpc: Rpc) => Promise<Result>): Promise<Result>
  read<Result>(act: (rpc: Rpc) => Promise<Result>): Promise<Result>
  doubt(): void
  inspect(): Promise<readonly RefusedEndpoint[]>
}

function poolOf(endpoints: readonly Endpoint[], input: EndpointsInput): Pool {
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
    const cost = (endpoint: Endpoint) =>
      costMs(endpoint.health, highest, blockTimeMs) * (endpoint === inUse ? keeping : 1)
    return awake().sort((a, b) => cost(a) - cost(b))
  }
  const ask = async <Result>(endpoint: Endpoint, act: (rpc: Rpc) => Promise<Result>) => {
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
        if (!isItsOwn(error)) throw error
        failure = error
      }
    }
    throw failure
  }
  const doubt = () => {
    const nowMs = performance.now()
    // Nobody asked one that rests: doubted with every call that finds nobody, it would rest for ever.
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
  requireChain(rpc, id, chainId)
  health.head = integer(head, 'block number')
}

/** Resolves as soon as each has been taken by somebody, else when everybody has answered. */
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
        // One that did not get as far as being sent to has no part in what became of them.
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
  // Some may only be behind: what so many of them have can be agreed on all the same.
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

type Opinion = { endpoint: Endpoint; said: string }
type Vote = Opinion & { agrees: boolean; head?: number }

const shownOpinion = ({ endpoint, said }: Opinion) => `${endpoint.rpc.host}: ${said}`

/**
 * Who names another block than as many as are needed is on a fork, or lies: it is not read for a while. Gives what is said
 * by enough of them.
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

/** How long one is not read that said something else of the same block than the others: that is no fork. */
const liarRestMs = 60_000

/** Asks as many as are needed, and the others when these do not agree. */
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

/** What each says of the block at this height; one that has no answer does not agree. */
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
        // Nothing was kept of this height, so nothing is concluded from it.
        const agrees = hash === undefined || said === hash
        return { endpoint, agrees, said, head: integer(head, 'block number') }
      } catch (error) {
        return { endpoint, agrees: false, said: (error as Error).message }
      }
    }),
  )
