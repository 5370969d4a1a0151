import { setTimeout as sleep } from 'node:timers/promises'
import { isHex } from '#lib/hex'
import type { Intercept, RestCall, Verdict } from '../../chains/proxy.ts'
import { delayMs, waitMs } from '../../durations.ts'
import type { Faults } from '../faults.ts'
import type { FaultRule } from '../plan-schema.ts'
import { isWord } from '../rules.ts'
import { seededRandom } from '../seeded-random.ts'
import type { Exchange, ProxiedAnswer, ProxiedCall, ProxiedReply } from './exchange.ts'
import { type CallFault, type Fault, type FaultContext, hashOf, readFaults } from './node-faults.ts'
import { faultsByReply } from './node-replies.ts'
import { restFaultOf } from './rest-faults.ts'

/** The path by which the platform itself asks its nodes, so that rules can tell its calls from those of others. */
export const platformPath = '/platform'

/** A request to a node, as rules see it. */
type AskedNode = {
  methods: readonly string[]
  /** The transactions that it sends or asks about. */
  about: { txHash?: string }
  /** Whether the interface of the node has what a rule answers. */
  takes(rule: FaultRule<'node'>): boolean
  /** The fate by a rule; undefined where it leaves the answer alone. */
  meet(rule: FaultRule<'node'>, memoryOf: MemoryOf): Promise<Verdict> | undefined
}
/** Returns the memory of the fault of a rule. */
type MemoryOf = (rule: FaultRule<'node'>) => Map<string, unknown>

/** Meets the calls to the node of a chain, before the node or after it did what it was asked. */
export function nodeFaults(faults: Faults, blockchain: string): Intercept {
  const memory = new Map<string, Map<string, unknown>>()
  const memoryOf: MemoryOf = ({ name }) => {
    const kept = memory.get(name) ?? new Map<string, unknown>()
    memory.set(name, kept)
    return kept
  }
  /** The end of the outage of a rule, in the time of this process. */
  const outages = new Map<string, number>()
  return async (call) => {
    const asked = call.rest ? askedByRest(call.rest) : askedByRpc(call, faults)
    if (!asked) return 'forward'
    const { methods, about } = asked
    const caller = call.path.startsWith(platformPath) ? 'platform' : 'user'
    const hits = faults.meet(
      'node',
      (rule) =>
        isWord(rule.match?.blockchain, blockchain) &&
        isWord(rule.match?.caller, caller) &&
        methods.some((method) => isWord(rule.match?.method, method)) &&
        asked.takes(rule),
      () => ({ blockchain, caller, method: methods.join(', '), ...about }),
    )
    for (const { rule } of hits) if (rule.do.delay !== undefined) await sleep(waitMs(rule.do.delay))
    const nowMs = performance.now()
    if ([...outages.values()].some((endMs) => nowMs < endMs)) return 'drop'
    for (const { rule } of hits) {
      const { outage } = rule.do
      if (outage !== undefined && !outages.has(rule.name)) {
        outages.set(rule.name, nowMs + delayMs(outage))
        return 'drop'
      }
      const verdict = asked.meet(rule, memoryOf)
      if (verdict) return verdict
    }
    return 'forward'
  }
}

const askedByRest = (call: RestCall): AskedNode => ({
  methods: [call.route],
  about: call.txHash === undefined ? {} : { txHash: call.txHash },
  takes: ({ do: act }) => act.reply === undefined || restFaultOf(act, call) !== undefined,
  meet: ({ do: act }) => restFaultOf(act, call)?.(call),
})

function askedByRpc({ body, forward }: Parameters<Intercept>[0], faults: Faults): AskedNode | undefined {
  const requests = requestsIn(body)
  if (!requests) return undefined
  return {
    methods: [...new Set(requests.calls.map(({ method }) => method))],
    about: transactionsIn(requests.calls),
    takes: () => true,
    meet: (rule, memoryOf) => {
      const fault = faultOf(rule)
      if (!fault) return undefined
      const exchange = exchangeOf(requests, forward)
      const context = {
        random: seededRandom(faults.seed()),
        ask: exchange.forward,
        memory: memoryOf(rule),
      } as FaultContext
      return replyOf(fault, exchange, context, rule).then((reply) => verdictOf(reply, requests.batch))
    },
  }
}

/** The transactions that calls send or ask about. */
function transactionsIn(calls: readonly ProxiedCall[]): { txHash?: string } {
  const hashes = calls.flatMap(({ method, params }) => {
    const first: unknown = params?.[0]
    if (typeof first !== 'string') return []
    if (method === 'eth_sendRawTransaction') return isHex(first) ? [hashOf(first)] : []
    return /^eth_getTransaction(ByHash|Receipt)$/.test(method) ? [first] : []
  })
  return hashes.length === 0 ? {} : { txHash: hashes.join(', ') }
}

const faultOf = ({ do: { reply, behindBlocks } }: FaultRule<'node'>): Fault | undefined => {
  if (reply !== undefined) return faultsByReply[reply]
  return behindBlocks === undefined ? undefined : readFaults.staleHead(behindBlocks)
}

type Requests = { calls: readonly ProxiedCall[]; batch: boolean }

function requestsIn(body: Buffer): Requests | undefined {
  try {
    const parsed = JSON.parse(body.toString()) as ProxiedCall | ProxiedCall[]
    return Array.isArray(parsed) ? { calls: parsed, batch: true } : { calls: [parsed], batch: false }
  } catch {
    return undefined
  }
}

function exchangeOf({ calls, batch }: Requests, forward: (body: Buffer) => Promise<string>): Exchange {
  const ask = async (requests: readonly ProxiedCall[] = calls): Promise<ProxiedAnswer[]> => {
    if (requests.length === 0) return []
    const sent = requests.map((request) => ({ jsonrpc: '2.0', ...request }))
    return JSON.parse(await forward(Buffer.from(JSON.stringify(sent)))) as ProxiedAnswer[]
  }
  return { requests: calls, batch, closed: new Promise(() => undefined), forward: ask }
}

/** A fault of a single call leaves the other calls of a list alone. */
async function replyOf(
  fault: Fault,
  exchange: Exchange,
  context: FaultContext,
  { match }: FaultRule<'node'>,
): Promise<ProxiedReply> {
  if ('reply' in fault) return fault.reply(exchange, context)
  const { methods } = fault
  const isSpoiled = ({ method }: ProxiedCall) =>
    isWord(match?.method, method) && (!methods || methods.includes(method))
  const answers = exchange.requests.map((request) =>
    isSpoiled(request) ? spoiled(fault, request, exchange, context) : honest(request, exchange),
  )
  return { answers: await Promise.all(answers) }
}

const honest = async (request: ProxiedCall, { forward }: Exchange) => (await forward([request]))[0]!

const spoiled = (fault: CallFault, request: ProxiedCall, exchange: Exchange, context: FaultContext) =>
  fault.answer(request, () => honest(request, exchange), context)

function verdictOf(reply: ProxiedReply, batch: boolean): Verdict {
  if (reply === 'hang') return 'hang'
  if (reply === 'reset') return 'drop'
  if ('answers' in reply) return { body: JSON.stringify(batch ? reply.answers : reply.answers[0]) }
  return reply
}
