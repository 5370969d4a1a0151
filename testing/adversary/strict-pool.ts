/**
 * A node that enforces the rules of real nodes: a proxy in front of a local one that decides about every
 * `eth_sendRawTransaction` by the rules of `pool-rules.ts`, and records each decision. Point any engine at its `url`, and
 * assert that `avoidable()` is empty. Mine blocks on a timer: a node that mines at once has no pool.
 */

import { type ProxiedAnswer, type ProxiedCall, refusalOf } from '#sandbox/faults/node/exchange'
import {
  type Account,
  executableCount,
  gethRules,
  type Head,
  type Pooled,
  type PoolRules,
  type Rule,
  readSigned,
  refusedAlone,
  refusedInPool,
  type Signed,
} from './pool-rules.ts'
import { openRpcProxy, type RpcProxy } from './proxy.ts'
import { type SeededRandom, seededRandom } from './seeded-random.ts'

type Hex = `0x${string}`

/** One received raw transaction and its outcome. */
export type Send = {
  raw: Hex
  /** Absent when the bytes are no transaction. */
  signed?: Signed
  /** `known`: the pool had these very bytes. */
  verdict: 'accepted' | 'known' | 'refused'
  place?: 'executable' | 'queued'
  rule?: Rule
  message?: string
  /** A refusal that a sender that counts nonces and reads blocks would not have met. */
  avoidable: boolean
}

export type Eviction = { hash: Hex; from: Hex; nonce: number; why: 'lifetime' | 'random' | 'wiped' }

export type StrictPool = RpcProxy & {
  sends: readonly Send[]
  evictions: readonly Eviction[]
  avoidable(): Send[]
  /** Changes the rules from now on. */
  change(rules: Partial<PoolRules>): void
  /** Empties the pool, as a restart of the node does. */
  wipe(): Promise<void>
}

export type StrictPoolOptions = { rules?: Partial<PoolRules>; seed?: number }

type State = {
  rules: PoolRules
  random: SeededRandom
  /** By sender and nonce. */
  pool: Map<Hex, Map<number, Pooled>>
  /** `sender:nonce` of every transaction ever accepted. */
  taken: Set<string>
  sends: Send[]
  evictions: Eviction[]
}

type Ask = (requests: readonly ProxiedCall[]) => Promise<ProxiedAnswer[]>

export async function openStrictPool(rpcUrl: string, options: StrictPoolOptions = {}): Promise<StrictPool> {
  const state: State = {
    rules: { ...gethRules, ...options.rules },
    random: seededRandom(options.seed ?? 1),
    pool: new Map(),
    taken: new Set(),
    sends: [],
    evictions: [],
  }
  // Decides sends one after another, as a pool under its lock does.
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <Result>(act: () => Promise<Result>): Promise<Result> => {
    const done = turn.then(act)
    turn = done.catch(() => undefined)
    return done
  }
  const proxy = await openRpcProxy(rpcUrl, async ({ requests, forward }) => {
    const reads = requests.filter((request) => !isSend(request))
    const answers = new Map((await forward(reads)).map((answer, index) => [reads[index], answer]))
    for (const request of requests.filter(isSend))
      answers.set(request, await inTurn(() => decide(state, forward, request)))
    return { answers: requests.map((request) => answers.get(request)!) }
  })
  const timer = setInterval(() => {
    inTurn(() => evictOld(state, proxy.ask)).catch(() => undefined)
  }, 250).unref()
  return {
    ...proxy,
    sends: state.sends,
    evictions: state.evictions,
    avoidable: () => state.sends.filter(({ avoidable }) => avoidable),
    change: (rules) => {
      Object.assign(state.rules, rules)
    },
    wipe: () =>
      inTurn(async () => {
        for (const pooled of [...state.pool.values()].flatMap((mine) => [...mine.values()]))
          await evict(state, proxy.ask, pooled, 'wiped')
      }),
    close: async () => {
      clearInterval(timer)
      await proxy.close()
    },
  }
}

const isSend = ({ method }: ProxiedCall) => method === 'eth_sendRawTransaction'

async function decide(state: State, ask: Ask, request: ProxiedCall): Promise<ProxiedAnswer> {
  const raw = String(request.params[0]) as Hex
  const signed = await readSigned(raw)
  const refuse = (rule: Rule, message: string, avoidable = true) => {
    state.sends.push({ raw, ...(signed && { signed }), verdict: 'refused', rule, message, avoidable })
    return refusalOf(request, message)
  }
  if (!signed) return refuse('malformed', 'rlp: value size exceeds available input length')
  const { account, head, isThere } = await readSender(ask, signed)
  const pooled = minedAway(state, signed.from, account.nonce)
  const same = pooled.get(signed.nonce)
  if (same?.hash === signed.hash) {
    if (isThere || !same.passedOn) {
      state.sends.push({ raw, signed, verdict: 'known', avoidable: false })
      return refusalOf(request, 'already known')
    }
    // A reorg or a wipe of the node behind removed it.
    pooled.delete(signed.nonce)
  }
  const refusal =
    refusedAlone(signed, head, state.rules) ?? refusedInPool(signed, account, pooled, state.rules)
  if (refusal) {
    // A sender cannot know yet that its repeated bytes are in a block by now.
    const raced = refusal.rule === 'nonce-too-low' && state.taken.has(keyOf(signed))
    return refuse(refusal.rule, refusal.message, !raced)
  }
  const executable = signed.nonce <= account.nonce + executableCount(account.nonce, pooled)
  const refused = executable ? await passOn(ask, signed) : undefined
  if (refused) return refuse('node', refused)
  pooled.set(signed.nonce, { ...signed, sinceMs: performance.now(), passedOn: executable })
  state.taken.add(keyOf(signed))
  const place = executable ? 'executable' : 'queued'
  state.sends.push({ raw, signed, verdict: 'accepted', place, avoidable: false })
  if (executable) await promote(ask, pooled, account.nonce)
  await evictByChance(state, ask)
  return { jsonrpc: '2.0', id: request.id, result: signed.hash }
}

/** Sends it to the node behind; returns the node's error message, if any. */
async function passOn(ask: Ask, { raw }: Signed): Promise<string | undefined> {
  const [answer] = await ask([{ id: 0, method: 'eth_sendRawTransaction', params: [raw] }])
  const message = answer?.error?.message
  return message === undefined || /already (known|imported)/i.test(message) ? undefined : message
}

/** Makes queued transactions executable once the nonces below them are present. */
async function promote(ask: Ask, pooled: Map<number, Pooled>, nextNonce: number): Promise<void> {
  const end = nextNonce + executableCount(nextNonce, pooled)
  for (let nonce = nextNonce; nonce < end; nonce++) {
    const one = pooled.get(nonce)!
    if (one.passedOn) continue
    if (await passOn(ask, one)) return void pooled.delete(nonce)
    one.passedOn = true
  }
}

const keyOf = ({ from, nonce }: Signed) => `${from}:${nonce}`

async function readSender(ask: Ask, { from, hash }: Signed) {
  const call = (method: string, ...params: unknown[]) => ({ id: 0, method, params })
  const [nonce, balance, code, block, chainId, known] = (
    await ask([
      call('eth_getTransactionCount', from, 'latest'),
      call('eth_getBalance', from, 'latest'),
      call('eth_getCode', from, 'latest'),
      call('eth_getBlockByNumber', 'latest', false),
      call('eth_chainId'),
      call('eth_getTransactionByHash', hash),
    ])
  ).map(({ result }) => result)
  const delegated = String(code).startsWith('0xef0100')
  const account: Account = { nonce: Number(nonce), balance: BigInt(balance), delegated }
  const head: Head = { chainId: Number(chainId), gasLimit: BigInt(block.gasLimit) }
  return { account, head, isThere: known !== null && known !== undefined }
}

/** Transactions of a sender in the pool, without those that are mined by now. */
function minedAway(state: State, from: Hex, nextNonce: number): Map<number, Pooled> {
  const pooled = state.pool.get(from) ?? new Map<number, Pooled>()
  state.pool.set(from, pooled)
  for (const nonce of pooled.keys()) if (nonce < nextNonce) pooled.delete(nonce)
  return pooled
}

async function forgetMined(state: State, ask: Ask): Promise<void> {
  const senders = [...state.pool].filter(([, pooled]) => pooled.size > 0).map(([from]) => from)
  const answers = await ask(
    senders.map((from, id) => ({ id, method: 'eth_getTransactionCount', params: [from, 'latest'] })),
  )
  for (const [index, from] of senders.entries()) minedAway(state, from, Number(answers[index]!.result))
}

async function evictByChance(state: State, ask: Ask): Promise<void> {
  const { evictOneIn } = state.rules
  if (evictOneIn === 0 || !state.random.oneIn(evictOneIn)) return
  await forgetMined(state, ask)
  const all = [...state.pool.values()].flatMap((mine) => [...mine.values()])
  if (all.length > 0) await evict(state, ask, state.random.pick(all), 'random')
}

/** Drops queued transactions that are too old; executable ones do not expire. */
async function evictOld(state: State, ask: Ask): Promise<void> {
  const bornBeforeMs = performance.now() - state.rules.queuedLifetimeMs
  for (const [from, mine] of state.pool) {
    if (![...mine.values()].some(({ passedOn }) => !passedOn)) continue
    const [answer] = await ask([{ id: 0, method: 'eth_getTransactionCount', params: [from, 'latest'] }])
    const next = Number(answer?.result)
    const pooled = minedAway(state, from, next)
    await promote(ask, pooled, next)
    for (const old of [...pooled.values()])
      if (!old.passedOn && old.sinceMs < bornBeforeMs) await evict(state, ask, old, 'lifetime')
  }
}

/** Drops a transaction; those with higher nonces become queued and are removed from the node behind. */
async function evict(state: State, ask: Ask, dropped: Pooled, why: Eviction['why']): Promise<void> {
  const { from, nonce, hash } = dropped
  const pooled = state.pool.get(from)!
  const above = [...pooled.values()].filter((one) => one.passedOn && one.nonce > nonce)
  for (const one of above.sort((a, b) => b.nonce - a.nonce)) {
    await ask([{ id: 0, method: 'anvil_dropTransaction', params: [one.hash] }])
    one.passedOn = false
  }
  pooled.delete(nonce)
  const wasThere = !dropped.passedOn || (await isDropped(ask, hash))
  // Otherwise it was mined in the meantime, and nothing was left to drop.
  if (wasThere) state.evictions.push({ hash, from, nonce, why })
}

const isDropped = async (ask: Ask, hash: Hex) =>
  Boolean((await ask([{ id: 0, method: 'anvil_dropTransaction', params: [hash] }]))[0]?.result)
