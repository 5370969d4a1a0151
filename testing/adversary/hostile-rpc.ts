/**
 * A node that lies, hangs and fails by a script: a proxy in front of an honest one. Each part of a script names a fault
 * of `faults.ts`, the methods it meets, and when: so many calls, a window of time, by chance. All chances come from one
 * seed, which is printed when the node opens; the same seed and the same calls meet the same faults.
 *
 *   const node = await openHostileRpc(rpcUrl, { seed })
 *   node.play({ fault: faults.acceptThenTimeOut, methods: ['eth_sendRawTransaction'], times: 2 })
 */
import type { Fault, FaultContext } from './faults.ts'
import {
  type Exchange,
  openRpcProxy,
  type Reply,
  type RpcAnswer,
  type RpcProxy,
  type RpcRequest,
} from './proxy.ts'
import { type Chance, chanceOf } from './seed.ts'

export type Part = {
  fault: Fault
  /** The methods that the part meets. Default: those that the fault affects, else all. */
  methods?: readonly string[]
  /** Number of calls that pass before the first fault. */
  after?: number
  /** Number of calls to meet. Default: all. */
  times?: number
  /** Milliseconds after `play`. */
  fromMs?: number
  untilMs?: number
  /** Probability of meeting each call. */
  chance?: number
}

/** A fault that was applied. */
export type Met = { fault: string; methods: string[]; atMs: number }

export type HostileRpc = RpcProxy & {
  seed: number
  met: readonly Met[]
  /** All raw transactions that arrived, in order, whatever their outcome. */
  raws: readonly string[]
  /** Number of calls of each method. */
  asked: ReadonlyMap<string, number>
  /** Plays this script from now on; without parts the node is honest. */
  play(...parts: readonly Part[]): void
}

export type HostileOptions = {
  seed?: number
  /** Called with every raw transaction before it is processed: for checks that it was durable. */
  onRaw?: (raw: string) => Promise<void>
}

type Playing = Part & { startMs: number; seen: number; hits: number; context: FaultContext }

type State = {
  chance: Chance
  playing: Playing[]
  met: Met[]
  raws: string[]
  asked: Map<string, number>
  onRaw: HostileOptions['onRaw']
}

export async function openHostileRpc(rpcUrl: string, options: HostileOptions = {}): Promise<HostileRpc> {
  const seed = options.seed ?? 1
  console.info(`hostile node: seed ${seed}; ADVERSARY_SEED=${seed} replays it`)
  const state: State = {
    chance: chanceOf(seed),
    playing: [],
    met: [],
    raws: [],
    asked: new Map(),
    onRaw: options.onRaw,
  }
  const proxy = await openRpcProxy(rpcUrl, (exchange) => answer(state, exchange))
  return {
    ...proxy,
    seed,
    met: state.met,
    raws: state.raws,
    asked: state.asked,
    play: (...parts) => {
      const startMs = performance.now()
      const context = () => ({ chance: state.chance, ask: proxy.ask, memory: new Map() })
      state.playing = parts.map((part) => ({ ...part, startMs, seen: 0, hits: 0, context: context() }))
    },
  }
}

async function answer(state: State, exchange: Exchange): Promise<Reply> {
  const { requests, forward } = exchange
  for (const { method, params } of requests) {
    state.asked.set(method, (state.asked.get(method) ?? 0) + 1)
    if (method !== 'eth_sendRawTransaction') continue
    state.raws.push(String(params[0]))
    await state.onRaw?.(String(params[0]))
  }
  const whole = state.playing.find((part) => 'reply' in part.fault && meets(state, part, requests))
  if (whole && 'reply' in whole.fault) {
    note(state, whole, requests)
    return whole.fault.reply(exchange, whole.context)
  }
  const parts = new Map(requests.map((request) => [request, partFor(state, request)]))
  const honest = requests.filter((request) => !parts.get(request))
  const answers = new Map<RpcRequest, RpcAnswer>()
  for (const [index, given] of (await forward(honest)).entries()) answers.set(honest[index]!, given)
  for (const [request, part] of parts) {
    if (!part || !('bend' in part.fault)) continue
    note(state, part, [request])
    answers.set(
      request,
      await part.fault.bend(request, async () => (await forward([request]))[0]!, part.context),
    )
  }
  return { answers: requests.map((request) => answers.get(request)!) }
}

const partFor = (state: State, request: RpcRequest) =>
  state.playing.find((part) => 'bend' in part.fault && meets(state, part, [request]))

/** Counts the requests that the part concerns, whether or not it meets this one. */
function meets(state: State, part: Playing, requests: readonly RpcRequest[]): boolean {
  const methods = part.methods ?? part.fault.methods
  if (methods && !requests.some(({ method }) => methods.includes(method))) return false
  const { after = 0, times = Number.POSITIVE_INFINITY, fromMs = 0, untilMs = Number.POSITIVE_INFINITY } = part
  const nowMs = performance.now() - part.startMs
  if (nowMs < fromMs || nowMs >= untilMs || part.hits >= times) return false
  part.seen += 1
  if (part.seen <= after) return false
  if (part.chance !== undefined && state.chance.next() >= part.chance) return false
  part.hits += 1
  return true
}

const note = (state: State, part: Playing, requests: readonly RpcRequest[]) =>
  state.met.push({
    fault: part.fault.name,
    methods: requests.map(({ method }) => method),
    atMs: performance.now() - part.startMs,
  })
