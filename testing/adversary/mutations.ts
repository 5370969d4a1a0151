/**
 * Answers about one block whose parts do not belong together: those of a provider that mixes nodes, caches or forks. A
 * block reader must accept none of them. Logs are changed wherever they occur, in receipts too.
 */

import { type ProxiedAnswer, resultFor } from '#sandbox/faults/node/exchange'
import type { CallFault } from '#sandbox/faults/node/node-faults'
import type { SeededRandom } from './seeded-random.ts'

// biome-ignore lint/suspicious/noExplicitAny: the changed value may be of any shape
type Loose = any

export type Mutation = {
  name: string
  methods: readonly string[]
  /** Changes a result in place or returns another one. */
  change(result: Loose, random: SeededRandom, method: string): Loose
}

const byBlock = ['eth_getBlockByNumber', 'eth_getBlockByHash']
const byReceipt = ['eth_getTransactionReceipt', 'eth_getBlockReceipts']
const byLog = ['eth_getLogs', ...byReceipt]
const nobody = `0x${'be'.repeat(20)}`
const elsewhere = `0x${'e1'.repeat(32)}`

/** Mutates only blocks requested with their transactions that contain some. */
const block = (name: string, change: (block: Loose, random: SeededRandom) => void): Mutation => ({
  name: `block: ${name}`,
  methods: byBlock,
  change: (result, random) => {
    if (typeof result?.transactions?.[0] === 'object') change(result, random)
    return result
  },
})

const sent = (name: string, change: (transaction: Loose, block: Loose) => void): Mutation =>
  block(`a transaction ${name}`, (result, random) => change(random.pick(result.transactions), result))

const receipt = (name: string, change: (receipt: Loose) => void): Mutation => ({
  name: `receipt: ${name}`,
  methods: byReceipt,
  change: (result) => {
    for (const one of [result].flat()) if (one) change(one)
    return result
  },
})

/** Changes a list of logs; in receipts, the list of each. */
const logs = (name: string, change: (logs: Loose[], random: SeededRandom) => Loose[]): Mutation => ({
  name: `logs: ${name}`,
  methods: byLog,
  change: (result, random, method) => {
    if (method === 'eth_getLogs') return result.length > 0 ? change(result, random) : result
    for (const one of [result].flat()) if (one?.logs?.length > 0) one.logs = change(one.logs, random)
    return result
  },
})

const log = (name: string, change: (log: Loose) => void): Mutation =>
  logs(name, (all) => {
    for (const one of all) change(one)
    return all
  })

const plus = (value: string, by: number) => `0x${(BigInt(value) + BigInt(by)).toString(16)}`

export const mutations: readonly Mutation[] = [
  block('the hash of another', (result) => {
    result.hash = elsewhere
  }),
  block('the one above', (result) => {
    result.number = plus(result.number, 1)
  }),
  block('two transactions have changed places', ({ transactions }) => transactions.reverse()),
  block('all transactions are missing', (result) => {
    result.transactions = []
  }),
  block('the last transaction is missing', ({ transactions }) => transactions.pop()),
  block('a transaction is missing', ({ transactions }, random) => {
    transactions.splice(random.below(transactions.length), 1)
  }),
  block('a transaction twice', ({ transactions }, random) => transactions.push(random.pick(transactions))),
  sent('of another block', (transaction) => {
    transaction.blockHash = elsewhere
  }),
  sent('of another height', (transaction) => {
    transaction.blockNumber = plus(transaction.blockNumber, 1)
  }),
  sent('of another chain', (transaction) => {
    transaction.chainId = '0x1'
  }),
  sent('from somebody else', (transaction) => {
    transaction.from = nobody
  }),
  sent('to somebody else', (transaction) => {
    transaction.to = nobody
  }),
  receipt('of another block', (one) => {
    one.blockHash = elsewhere
  }),
  receipt('of another height', (one) => {
    one.blockNumber = plus(one.blockNumber, 1)
  }),
  receipt('of another place in the block', (one) => {
    one.transactionIndex = plus(one.transactionIndex, 1)
  }),
  receipt('of an unknown transaction', (one) => {
    one.transactionHash = elsewhere
  }),
  receipt('from somebody else', (one) => {
    one.from = nobody
  }),
  receipt('to somebody else', (one) => {
    one.to = nobody
  }),
  receipt('failed, and yet with logs', (one) => {
    if (one.logs.length > 0) one.status = '0x0'
  }),
  receipt('more gas used than in all of the block so far', (one) => {
    one.gasUsed = plus(one.cumulativeGasUsed, 1)
  }),
  log('of another block', (one) => {
    one.blockHash = elsewhere
  }),
  log('of another height', (one) => {
    one.blockNumber = plus(one.blockNumber, 1)
  }),
  log('of an unknown transaction', (one) => {
    one.transactionHash = elsewhere
  }),
  log('of another place in the block', (one) => {
    one.transactionIndex = plus(one.transactionIndex, 1)
  }),
  log('of an orphaned block', (one) => {
    one.removed = true
  }),
  logs('one twice', (all, random) => [...all, random.pick(all)]),
  logs('one is missing', (all, random) => {
    const gone = random.below(all.length)
    return all.filter((_, index) => index !== gone)
  }),
  logs('the last is missing', (all) => all.slice(0, -1)),
  logs('one more, of a token that the bloom filter excludes', (all) => [
    ...all,
    { ...all[0], address: nobody, logIndex: plus(all.at(-1).logIndex, 1) },
  ]),
  {
    name: 'logs: none, with a bloom filter that is not empty',
    methods: byLog,
    change: (result, _, method) => {
      if (method === 'eth_getLogs') return []
      for (const one of [result].flat()) if (one) one.logs = []
      return result
    },
  },
]

/** The mutation as a fault of a hostile node. */
export const mutate = (mutation: Mutation): CallFault => ({
  name: mutation.name,
  methods: mutation.methods,
  answer: async (request, honest, { random }) => {
    const answer: ProxiedAnswer = await honest()
    if (answer.error || answer.result === null) return answer
    return resultFor(request, mutation.change(answer.result, random, request.method))
  },
})
