/**
 * Lies about a block whose parts are consistent, under a hash on which all nodes agree: the answers of one node do not
 * reveal them. The victim and the contracts of listed tokens are addresses in lower case.
 */
import { keccak256 } from 'viem'
import { resultFor } from '#sandbox/faults/node/exchange'
import type { CallFault } from '#sandbox/faults/node/node-faults'

// biome-ignore lint/suspicious/noExplicitAny: the changed value may be of any shape
type Loose = any

const emptyBloom = `0x${'00'.repeat(256)}`
const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const methods = [
  'eth_getBlockByNumber',
  'eth_getBlockByHash',
  'eth_getBlockReceipts',
  'eth_getTransactionReceipt',
]

type Changes = { block?: (block: Loose) => void; receipt?: (receipt: Loose) => void }

/** Changes receipts, and blocks returned with their transactions. */
const lie = (name: string, { block, receipt }: Changes): CallFault => ({
  name,
  methods,
  answer: async (request, honest) => {
    const answer = await honest()
    const result = structuredClone(answer.result)
    if (!result) return answer
    if (!request.method.startsWith('eth_getBlockBy')) for (const one of [result].flat()) receipt?.(one)
    else if (typeof result.transactions[0] === 'object') block?.(result)
    return resultFor(request, result)
  },
})

const isOf = (victim: string) => (item: Loose) => item.from === victim || item.to === victim
const withoutLogs = (item: Loose) => Object.assign(item, { logs: [], logsBloom: emptyBloom })

const moreMoved = (log: Loose) => {
  log.data = `0x${(BigInt(log.data) * 1_000n).toString(16).padStart(64, '0')}`
}

export const falseContents = (victim: string, listed: readonly string[] = []): CallFault[] => [
  lie('a token transfer of a thousand times as much', {
    receipt: ({ logs }) => {
      for (const log of logs) moreMoved(log)
    },
  }),
  lie('logs are hidden, in the filters too', {
    block: (block) => Object.assign(block, { logsBloom: emptyBloom }),
    receipt: withoutLogs,
  }),
  lie('what went well has failed', {
    block: (block) => Object.assign(block, { logsBloom: emptyBloom }),
    receipt: (receipt) => Object.assign(withoutLogs(receipt), { status: '0x0' }),
  }),
  lie('a transaction of somebody else has the nonce', {
    block: ({ transactions }) => {
      for (const item of transactions.filter(isOf(victim))) item.hash = keccak256(item.hash)
    },
    receipt: (receipt) => {
      if (!isOf(victim)(receipt)) return
      receipt.transactionHash = keccak256(receipt.transactionHash)
      for (const log of receipt.logs) log.transactionHash = receipt.transactionHash
    },
  }),
  lie('a block is empty', {
    block: (block) =>
      Object.assign(block, { transactions: [], transactionsRoot: emptyRoot, logsBloom: emptyBloom }),
  }),
  lie('more coins were paid', {
    block: ({ transactions }) => {
      for (const item of transactions) item.value = `0x${(BigInt(item.value) + 1n).toString(16)}`
    },
  }),
  lie('a fee was higher', {
    receipt: (receipt) => {
      receipt.effectiveGasPrice = `0x${(BigInt(receipt.effectiveGasPrice) * 10n).toString(16)}`
    },
  }),
  lie('a token that no network lists was moved a thousand times as much', {
    receipt: ({ logs }) => {
      for (const log of logs) if (!listed.includes(log.address)) moreMoved(log)
    },
  }),
]
