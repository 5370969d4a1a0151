/**
 * A node that enforces what real nodes enforce: a proxy in front of a local one that decides about every
 * `eth_sendRawTransaction` by the rules of `pool-rules.ts`, and writes down what it decided. Point any engine at its
 * `url`, and assert that `avoidable()` is empty. Let blocks come on a timer: a node that mines at once has no pool.
 */
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
import { openRpcProxy, type RpcAnswer, type RpcProxy, type RpcRequest, refusalOf } from './proxy.ts'
import { type Chance, chanceOf } from './seed.ts'

type Hex = `0x${string}`

/** One raw transaction that came, and what became of it. */
export type Send = {
  raw: Hex
  /** Absent when the bytes are no transaction. */
  signed?: Signed
  /** `known`: the pool had these very bytes. */
  verdict: 'accepted' | 'known' | 'refused'
  place?: 'executable' | 'queued'
  rule?: Rule
  message?: string
  /** A refusal that a sender who counts and reads blocks would not have met. */
  avoidable: boolean
}

export type Eviction = { hash: Hex; from: Hex; nonce: number; why: 'lifetime' | 'random' | 'wiped' }

export type StrictPool = RpcProxy & {
  sends: readonly Send[]
  evictions: readonly Eviction[]
  avoidable(): Send[]
  /** Other rules from now on. */
  change(rules: Partial<PoolRules>): void
  /** The pool is empty, as after a restart of the node. */
  wipe(): Promise<void>
}

export type StrictPoolOptions = { rules?: Partial<PoolRules>; seed?: number }

type State = {
  rules: PoolRules
  chance: Chance
  /** By sender and nonce. */
  pool: Map<Hex, Map<number, Pooled>>
  /** `sender:nonce` of all that was ever taken. */
  taken: Set<string>
  sends: Send[]
  evictions: Eviction[]
}

type Ask = (requests: readonly RpcRequest[]) => Promise<RpcAnswer[]>

export async function openStrictPool(rpcUrl: string, options: StrictPoolOptions = {}): Promise<StrictPool> {
  const state: State = {
    rules: { ...gethRules, ...options.rules },
    chance: chanceOf(options.seed ?? 1),
    pool: new Map(),
    taken: new Set(),
    sends: [],
    evictions: [],
  }
  // Sends are decided one after the other, as a pool under its lock does.
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

const isSend = ({ method }: RpcRequest) => method === 'eth_sendRawTransaction'

async function decide(state: State, ask: Ask, request: RpcRequest): Promise<RpcAnswer> {
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
    // A reorg or a wipe of the node behind took it.
    pooled.delete(signed.nonce)
  }
  const refusal =
    refusedAlone(signed, head, state.rules) ?? refusedInPool(signed, account, pooled, state.rules)
  if (refusal) {
    // Whoever sends again what may be in a block by now cannot know better.
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

/** Hands it to the node behind; gives what that has against it. */
async function passOn(ask: Ask, { raw }: Signed): Promise<string | undefined> {
  const [answer] = await ask([{ id: 0, method: 'eth_sendRawTransaction', params: [raw] }])
  const message = answer?.error?.message
  return message === undefined || /already (known|imported)/i.test(message) ? undefined : message
}

/** What waited for a nonce that is there now becomes executable. */
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

/** What the pool holds of a sender, without what is in blocks by now. */
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
  if (evictOneIn === 0 || !state.chance.oneIn(evictOneIn)) return
  await forgetMined(state, ask)
  const all = [...state.pool.values()].flatMap((mine) => [...mine.values()])
  if (all.length > 0) await evict(state, ask, state.chance.pick(all), 'random')
}

/** Only what waits for a lower nonce grows old. */
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

/** Those above it wait from now on, and the node behind is not to keep them. */
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
  // A block was faster: there was nothing left to drop.
  if (wasThere) state.evictions.push({ hash, from, nonce, why })
}

const isDropped = async (ask: Ask, hash: Hex) =>
  Boolean((await ask([{ id: 0, method: 'anvil_dropTransaction', params: [hash] }]))[0]?.result)
