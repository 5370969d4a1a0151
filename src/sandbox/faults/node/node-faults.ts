/** Faults between a client and its node. Those with `reply` spoil a whole HTTP request, those with `answer` one call. */
import { setTimeout as sleep } from 'node:timers/promises'
import { keccak_256 } from '@noble/hashes/sha3'
import { hexOf } from '#lib/hex'
import type { SeededRandom } from '../seeded-random.ts'
import {
  type Exchange,
  type ProxiedAnswer,
  type ProxiedCall,
  type ProxiedReply,
  refusalOf,
  resultFor,
} from './exchange.ts'

export type FaultContext = {
  random: SeededRandom
  ask(requests: readonly ProxiedCall[]): Promise<ProxiedAnswer[]>
  /** State of a fault, kept while its script plays. */
  memory: Map<string, unknown>
}

type NamedFault = {
  name: string
  /** The methods that the fault affects; every method when left out. */
  methods?: readonly string[]
}
type RequestFault = NamedFault & { reply(exchange: Exchange, context: FaultContext): Promise<ProxiedReply> }
export type CallFault = NamedFault & {
  answer(
    request: ProxiedCall,
    honest: () => Promise<ProxiedAnswer>,
    context: FaultContext,
  ): Promise<ProxiedAnswer>
}
export type Fault = RequestFault | CallFault

const send = ['eth_sendRawTransaction']
const html = '<html><body><h1>Bad gateway</h1></body></html>'
const asJson = { 'content-type': 'application/json' }

/** The hash of hexadecimal bytes, as nodes name transactions and blocks by it. */
export const hashOf = (hex: string) => hexOf(keccak_256(Buffer.from(hex.slice(2), 'hex')))

/** Replies with `reply` without asking the node. */
const instead = (name: string, reply: ProxiedReply): RequestFault => ({ name, reply: async () => reply })

/** Forwards the request to the node, then replies with `reply` instead of its answer. */
const after = (name: string, reply: ProxiedReply): RequestFault => ({
  name,
  reply: async ({ requests, forward }) => {
    await forward(requests)
    return reply
  },
})

const whole = (answers: readonly ProxiedAnswer[], batch: boolean) =>
  JSON.stringify(batch ? answers : answers[0])

/** Forwards the request to the node and spoils its true answer on the way back. */
const spoiled = (
  name: string,
  spoil: (body: string, answers: ProxiedAnswer[]) => ProxiedReply,
): RequestFault => ({
  name,
  reply: async ({ requests, batch, forward }) => {
    const answers = await forward(requests)
    return spoil(whole(answers, batch), answers)
  },
})

/** Faults of the connection and of proxies before a node; each leaves open whether the call was executed. */
export const lineFaults = {
  acceptThenTimeOut: after('accept, then time out', 'hang'),
  timeOut: instead('time out unheard', 'hang'),
  resetBefore: instead('reset before forwarding', 'reset'),
  resetAfter: after('reset after forwarding', 'reset'),
  error500: instead('500', { status: 500, headers: asJson, body: '{"error":"internal"}' }),
  error500After: after('500 after forwarding', { status: 500, headers: asJson, body: '{}' }),
  error502: instead('502 with HTML', { status: 502, headers: { 'content-type': 'text/html' }, body: html }),
  error502After: after('502 after forwarding', { status: 502, body: html }),
  rateLimited: instead('429 with Retry-After', {
    status: 429,
    headers: { ...asJson, 'retry-after': '1' },
    body: '{"jsonrpc":"2.0","error":{"code":-32005,"message":"rate limit exceeded"}}',
  }),
  rateLimitedAfter: after('429 after forwarding', { status: 429, headers: { 'retry-after': '1' }, body: '' }),
  html: after('HTML with status 200', { status: 200, headers: { 'content-type': 'text/html' }, body: html }),
  empty: after('an empty answer', { status: 200, headers: asJson, body: '' }),
  truncated: spoiled('truncated JSON', (body) => ({
    status: 200,
    headers: asJson,
    body: body.slice(0, Math.max(1, body.length - 12)),
  })),
  cutOff: spoiled('cut off in the middle', (body) => ({
    status: 200,
    headers: asJson,
    body,
    cutAfter: Math.floor(body.length / 2),
  })),
  hugeBody: spoiled('a huge body', (body) => ({
    status: 200,
    headers: asJson,
    body: body + ' '.repeat(40 * 1024 * 1024),
  })),
  halfOfBatch: spoiled('half of the answers', (_, answers) => ({
    answers: answers.slice(0, answers.length >> 1),
  })),
  otherIds: spoiled('answers to other questions', (_, answers) => ({
    answers: answers.map((answer, index) => ({ ...answer, id: 900_000_000 + index })),
  })),
  oneErrorForAll: after('one error for all', {
    status: 200,
    headers: asJson,
    body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}',
  }),
} satisfies Record<string, RequestFault>

/** Ways in which a provider refuses a batch that is too long for it. */
const refusalsOfLists: Record<string, (requests: readonly ProxiedCall[]) => ProxiedReply> = {
  'the status 413': () => ({ status: 413, body: html }),
  'the status 400': () => ({ status: 400, headers: asJson, body: '{"error":{"message":"not so many"}}' }),
  'the status 500 and a reason': () => ({ status: 500, body: '{"message":"Batch of more than 3 requests"}' }),
  'one error': () => ({
    status: 200,
    headers: asJson,
    body: '{"id":null,"error":{"code":-32000,"message":"too much"}}',
  }),
  'one error in a list': (requests) => ({ answers: [refusalOf(requests[0]!, 'batch too large', -32600)] }),
  'an error for each call': (requests) => ({
    answers: requests.map((request) => refusalOf(request, 'maximum 3 calls in 1 batch', -32014)),
  }),
}

/**
 * Refuses batches of more than `most` calls, in each of these ways; with 0 also a batch of one. Pushes the length of each
 * to `refused`.
 */
export const listLimits = (most: number, refused: number[] = []): RequestFault[] =>
  Object.entries(refusalsOfLists).map(([name, refusal]) => ({
    name: `lists of more than ${most} calls are refused by ${name}`,
    reply: async ({ requests, batch, forward }) => {
      if (!batch || requests.length <= most) return { answers: await forward() }
      refused.push(requests.length)
      return refusal(requests)
    },
  }))

const refused = (name: string, message: string, code = -32000): CallFault => ({
  name,
  methods: send,
  answer: async (request) => refusalOf(request, message, code),
})

/** Forwards the bytes to the node and reports that it refused them. */
const refusedAfter = (name: string, message: string, code = -32000): CallFault => ({
  name,
  methods: send,
  answer: async (request, honest) => {
    await honest()
    return refusalOf(request, message, code)
  },
})

/** Answers of a node to raw transactions, true or not. */
export const sendFaults = {
  alreadyKnown: refused('"already known" for new bytes', 'already known'),
  swallowed: {
    name: 'a hash for bytes that are dropped',
    methods: send,
    answer: async (request) => resultFor(request, hashOf(request.params[0])),
  },
  internalErrorAfter: refusedAfter('internal error after taking it', 'internal error', -32603),
  limitExceeded: refused('rate limit as a JSON-RPC error', 'request rate limit exceeded', -32005),
  refusedInvalid: refused('a certain refusal', 'invalid sender'),
  poolFull: refused('the pool is full', 'txpool is full'),
  nonceTooLowAfter: refusedAfter('"nonce too low" after taking it', 'nonce too low'),
  underpricedAgain: refusedAfter(
    '"replacement underpriced" after taking it',
    'replacement transaction underpriced',
  ),
} satisfies Record<string, CallFault>

const receiptMethods = ['eth_getTransactionReceipt', 'eth_getBlockReceipts']

const heightOf = async ({ ask }: FaultContext) =>
  Number((await ask([{ id: 0, method: 'eth_blockNumber', params: [] }]))[0]!.result)

/** Whether fewer than `blocks` blocks were mined since this fault was first met. */
async function withinBlocks(blocks: number, context: FaultContext): Promise<boolean> {
  const height = await heightOf(context)
  if (!context.memory.has('from')) context.memory.set('from', height)
  return height < Number(context.memory.get('from')) + blocks
}

/** Lies and delays in a node's answers about its chain. */
export const readFaults = {
  /** No receipts at all, for this many blocks. */
  nullReceipts: (blocks: number): CallFault => ({
    name: `no receipts for ${blocks} blocks`,
    methods: receiptMethods,
    answer: async (request, honest, context) =>
      (await withinBlocks(blocks, context)) ? resultFor(request, null) : honest(),
  }),
  receiptErrors: (blocks: number): CallFault => ({
    name: `errors for receipts for ${blocks} blocks`,
    methods: receiptMethods,
    answer: async (request, honest, context) =>
      (await withinBlocks(blocks, context)) ? refusalOf(request, 'transaction not found') : honest(),
  }),
  /** Every answer is as of `behind` blocks ago. */
  staleHead: (behind: number): CallFault => ({
    name: `a head ${behind} blocks behind`,
    answer: async (request, honest, context) =>
      asOf(Math.max(0, (await heightOf(context)) - behind), request, honest, context),
  }),
  /** The head stays where it was when the script began, until `blocks` more are mined. */
  frozenHead: (blocks = Number.POSITIVE_INFINITY): CallFault => ({
    name: 'a head that stands still',
    answer: async (request, honest, context) => {
      const within = await withinBlocks(blocks, context)
      return within ? asOf(Number(context.memory.get('from')), request, honest, context) : honest()
    },
  }),
  /** Each answer is as of a different moment, up to `behind` blocks ago: the head moves back and forth. */
  timeTravel: (behind: number): CallFault => ({
    name: `a head that jumps up to ${behind} blocks`,
    answer: async (request, honest, context) =>
      asOf(
        Math.max(0, (await heightOf(context)) - context.random.below(behind + 1)),
        request,
        honest,
        context,
      ),
  }),
  emptyLogs: {
    name: 'no logs where there are some',
    methods: ['eth_getLogs'],
    answer: async (request: ProxiedCall) => resultFor(request, []),
  } as CallFault,
  /** Every block is a different one, as on a fork. */
  otherBlocks: {
    name: 'the blocks of a fork',
    methods: ['eth_getBlockByNumber', 'eth_getBlockByHash'],
    answer: async (request: ProxiedCall, honest: () => Promise<ProxiedAnswer>) => {
      const answer = await honest()
      return answer.result
        ? resultFor(request, { ...answer.result, hash: hashOf(answer.result.hash) })
        : answer
    },
  } as CallFault,
  unknownMethod: {
    name: 'a method that the node does not have',
    answer: async (request: ProxiedCall) =>
      refusalOf(request, `the method ${request.method} does not exist/is not available`, -32601),
  } as CallFault,
  /** Delays each answer of the node by `ms`. */
  slow: (ms: number): CallFault => ({
    name: `answers ${ms} ms late`,
    answer: async (_, honest) => {
      await sleep(ms)
      return honest()
    },
  }),
  /** An error in place of an answer. */
  says: (message: string, code = -32000): CallFault => ({
    name: `"${message}"`,
    answer: async (request) => refusalOf(request, message, code),
  }),
  wrongChainId: (chainId = 1): CallFault => ({
    name: `chain id ${chainId}`,
    methods: ['eth_chainId', 'net_version'],
    answer: async (request) => resultFor(request, `0x${chainId.toString(16)}`),
  }),
}

/** The answer of a node whose newest block is `height`. */
async function asOf(
  height: number,
  request: ProxiedCall,
  honest: () => Promise<ProxiedAnswer>,
  { ask }: FaultContext,
): Promise<ProxiedAnswer> {
  const tag = `0x${height.toString(16)}`
  const { method, params } = request
  if (method === 'eth_blockNumber') return resultFor(request, tag)
  if (params.includes('latest')) {
    const then = { ...request, params: params.map((param) => (param === 'latest' ? tag : param)) }
    return (await ask([then]))[0]!
  }
  const answer = await honest()
  const { result } = answer
  if (method.startsWith('eth_getBlockBy') && Number(result?.number) > height) return resultFor(request, null)
  if (method === 'eth_getTransactionReceipt' && Number(result?.blockNumber) > height)
    return resultFor(request, null)
  if (method === 'eth_getBlockReceipts' && Number(result?.[0]?.blockNumber) > height)
    return resultFor(request, null)
  // By hash: a node without the block cannot report that the block has no logs.
  if (method === 'eth_getLogs' && Number(result?.[0]?.blockNumber) > height)
    return refusalOf(request, 'unknown block')
  return answer
}

/** All faults; those with parameters are functions. */
export const faults = { ...lineFaults, ...sendFaults, ...readFaults }
