import type { Hex } from '#lib/hex'
import type { Address, Block, BlockRef, ChainTransaction, TransferLog } from '../chain.ts'
import { address, hash, integer, quantity } from './quantities.ts'
import { type Rpc, RpcUnreachable } from './rpc.ts'

/** keccak256 of "Transfer(address,address,uint256)". */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

type RawBlock = {
  number: unknown
  hash: unknown
  parentHash: unknown
  timestamp: unknown
  transactions: unknown
}
type RawTransaction = { hash: unknown; from: unknown; to: unknown; value: unknown; nonce: unknown }
type RawLog = {
  address: unknown
  topics: unknown
  data: unknown
  logIndex: unknown
  transactionHash: unknown
  blockHash: unknown
}

export async function readHead(rpc: Rpc): Promise<BlockRef> {
  const raw = await rpc.call<RawBlock | null>('eth_getBlockByNumber', ['latest', false])
  if (!raw) throw new RpcUnreachable('the node has no latest block')
  return refOf(raw)
}

/** The block with its transfers of `tokens`, asked for by hash so that a node that lags cannot answer with "none". */
export async function readBlock(
  rpc: Rpc,
  method: string,
  key: Hex,
  tokens: readonly Address[],
): Promise<Block | undefined> {
  const raw = await rpc.call<RawBlock | null>(method, [key, true])
  if (!raw) return undefined
  const ref = refOf(raw)
  const transactions = transactionsOf(raw)
  // An empty block has no logs; asking would cost a request for each idle block.
  const transfers = transactions.length === 0 ? [] : await readTransfers(rpc, ref, transactions, tokens)
  return { ...ref, transactions, transfers }
}

function refOf(raw: RawBlock): BlockRef {
  return {
    number: integer(raw.number, 'block number'),
    hash: hash(raw.hash, 'block hash'),
    parentHash: hash(raw.parentHash, 'parent hash'),
    timeMs: integer(raw.timestamp, 'block time') * 1000,
  }
}

function transactionsOf(raw: RawBlock): ChainTransaction[] {
  if (!Array.isArray(raw.transactions)) throw new RpcUnreachable("the node's block has no transactions")
  return (raw.transactions as RawTransaction[]).map((item) => ({
    hash: hash(item.hash, 'transaction hash'),
    from: address(item.from, 'sender'),
    to: item.to == null ? undefined : address(item.to, 'recipient'),
    valueAtomic: quantity(item.value, 'value'),
    nonce: integer(item.nonce, 'nonce'),
  }))
}

async function readTransfers(
  rpc: Rpc,
  ref: BlockRef,
  transactions: readonly ChainTransaction[],
  tokens: readonly Address[],
): Promise<TransferLog[]> {
  if (tokens.length === 0) return []
  const filter = { blockHash: ref.hash, address: tokens, topics: [transferTopic] }
  const logs = await rpc.call<RawLog[]>('eth_getLogs', [filter])
  if (!Array.isArray(logs)) throw new RpcUnreachable("the node's logs are not a list")
  const known = new Set(transactions.map((item) => item.hash))
  const seen = new Set<number>()
  return logs.map((log) => {
    const transfer = transferOf(log)
    if (
      hash(log.blockHash, 'log block') !== ref.hash ||
      !known.has(transfer.txHash) ||
      seen.has(transfer.logIndex)
    ) {
      throw new RpcUnreachable(`the logs of block ${ref.hash} do not belong to it`)
    }
    seen.add(transfer.logIndex)
    return transfer
  })
}

function transferOf(log: RawLog): TransferLog {
  const topics = Array.isArray(log.topics) ? log.topics : []
  if (topics[0] !== transferTopic || topics.length !== 3) throw new RpcUnreachable('a log is not a transfer')
  return {
    txHash: hash(log.transactionHash, 'log transaction'),
    logIndex: integer(log.logIndex, 'log index'),
    token: address(log.address, 'log address'),
    from: addressOfTopic(topics[1]),
    to: addressOfTopic(topics[2]),
    amountAtomic: quantity(log.data, 'transferred amount'),
  }
}

const addressOfTopic = (topic: unknown): Address => `0x${hash(topic, 'topic').slice(26)}`
