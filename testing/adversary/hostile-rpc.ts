/**
 * A node that lies, hangs and fails by a script: a proxy in front of an honest one. Each step of a script names a fault
 * of `faults.ts`, the methods it meets, and when: so many calls, a window of time, by chance. All draws come from one
 * seed, which is printed when the node opens; the same seed and the same calls meet the same faults.
 *
 *   const node = await openHostileRpc(rpcUrl, { seed })
 *   node.play({ fault: faults.acceptThenTimeOut, methods: ['eth_sendRawTransaction'], times: 2 })
 */

import type { Exchange, ProxiedAnswer, ProxiedCall, ProxiedReply } from '#sandbox/faults/node/exchange'
import type { Fault, FaultContext } from '#sandbox/faults/node/node-faults'
import { openRpcProxy, type RpcProxy } from './proxy.ts'
import { type SeededRandom, seededRandom } from './seeded-random.ts'

export type ScriptStep = {
  fault: Fault
  /** The methods that the step meets. Default: those that the fault affects, else all. */
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
export type AppliedFault = { fault: string; methods: string[]; atMs: number }

export type HostileRpc = RpcProxy & {
  seed: number
  applied: readonly AppliedFault[]
  /** All raw transactions that arrived, in order, whatever their outcome. */
  rawTransactions: readonly string[]
  /** Number of calls of each method. */
  callCounts: ReadonlyMap<string, number>
  /** Plays this script from now on; without steps the node is honest. */
  play(...steps: readonly ScriptStep[]): void
}

export type HostileOptions = {
  seed?: number
  /** Called with every raw transaction before it is processed: for checks that it was durable. */
  onRawTransaction?: (raw: string) => Promise<void>
}

type Playing = ScriptStep & { startMs: number; seen: number; hits: number; context: FaultContext }

type State = {
  random: SeededRandom
  playing: Playing[]
  applied: AppliedFault[]
  rawTransactions: string[]
  callCounts: Map<string, number>
  onRawTransaction: HostileOptions['onRawTransaction']
}

export async function openHostileRpc(rpcUrl: string, options: HostileOptions = {}): Promise<HostileRpc> {
  const seed = options.seed ?? 1
  console.info(`hostile node: seed ${seed}; ADVERSARY_SEED=${seed} replays it`)
  const state: State = {
    random: seededRandom(seed),
    playing: [],
    applied: [],
    rawTransactions: [],
    callCounts: new Map(),
    onRawTransaction: options.onRawTransaction,
  }
  const proxy = await openRpcProxy(rpcUrl, (exchange) => answer(state, exchange))
  return {
    ...proxy,
    seed,
    applied: state.applied,
    rawTransactions: state.rawTransactions,
    callCounts: state.callCounts,
    play: (...steps) => {
      const startMs = performance.now()
      const context = () => ({ random: state.random, ask: proxy.ask, memory: new Map() })
      state.playing = steps.map((step) => ({ ...step, startMs, seen: 0, hits: 0, context: context() }))
    },
  }
}

async function answer(state: State, exchange: Exchange): Promise<ProxiedReply> {
  const { requests, forward } = exchange
  for (const { method, params } of requests) {
    state.callCounts.set(method, (state.callCounts.get(method) ?? 0) + 1)
    if (method !== 'eth_sendRawTransaction') continue
    state.rawTransactions.push(String(params[0]))
    await state.onRawTransaction?.(String(params[0]))
  }
  const whole = state.playing.find((step) => 'reply' in step.fault && meets(state, step, requests))
  if (whole && 'reply' in whole.fault) {
    note(state, whole, requests)
    return whole.fault.reply(exchange, whole.context)
  }
  const steps = new Map(requests.map((request) => [request, stepFor(state, request)]))
  const honest = requests.filter((request) => !steps.get(request))
  const answers = new Map<ProxiedCall, ProxiedAnswer>()
  for (const [index, given] of (await forward(honest)).entries()) answers.set(honest[index]!, given)
  for (const [request, step] of steps) {
    if (!step || !('answer' in step.fault)) continue
    note(state, step, [request])
    answers.set(
      request,
      await step.fault.answer(request, async () => (await forward([request]))[0]!, step.context),
    )
  }
  return { answers: requests.map((request) => answers.get(request)!) }
}

const stepFor = (state: State, request: ProxiedCall) =>
  state.playing.find((step) => 'answer' in step.fault && meets(state, step, [request]))

/** Counts the requests that the step concerns, whether or not it meets this one. */
function meets(state: State, step: Playing, requests: readonly ProxiedCall[]): boolean {
  const methods = step.methods ?? step.fault.methods
  if (methods && !requests.some(({ method }) => methods.includes(method))) return false
  const { after = 0, times = Number.POSITIVE_INFINITY, fromMs = 0, untilMs = Number.POSITIVE_INFINITY } = step
  const nowMs = performance.now() - step.startMs
  if (nowMs < fromMs || nowMs >= untilMs || step.hits >= times) return false
  step.seen += 1
  if (step.seen <= after) return false
  if (step.chance !== undefined && state.random.next() >= step.chance) return false
  step.hits += 1
  return true
}

const note = (state: State, step: Playing, requests: readonly ProxiedCall[]) =>
  state.applied.push({
    fault: step.fault.name,
    methods: requests.map(({ method }) => method),
    atMs: performance.now() - step.startMs,
  })
