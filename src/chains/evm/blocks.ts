import type { Hex } from '#lib/hex'
import type { Address, Block, BlockRef, ChainTransaction, TransferLog } from '../chain.ts'
import { bloomMayHold } from './bloom.ts'
import { address, hash, integer, quantity } from './quantities.ts'
import { type Rpc, RpcError, RpcUnreachable } from './rpc.ts'

/** keccak256 of "Transfer(address,address,uint256)". */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

type RawBlock = {
  number: unknown
  hash: unknown
  parentHash: unknown
  timestamp: unknown
  logsBloom?: unknown
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

/** The newest block. The chain id is asked along: an address that now leads to another chain must not be followed. */
export async function readHead(rpc: Rpc, chainId: number): Promise<BlockRef> {
  const [id, raw] = await rpc.batch<unknown>([
    { method: 'eth_chainId', params: [] },
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
  ])
  for (const answer of [id, raw]) if (answer instanceof RpcError) throw answer
  const given = integer(id, 'chain id')
  if (given !== chainId) throw new RpcUnreachable(`${rpc.url} is a node of chain ${given}, not of ${chainId}`)
  if (!raw) throw new RpcUnreachable('the node has no latest block')
  return refOf(raw as RawBlock)
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
  const transfers = transactions.length === 0 ? [] : await readTransfers(rpc, raw, ref, transactions, tokens)
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
  const transactions = (raw.transactions as RawTransaction[]).map((item) => ({
    hash: hash(item?.hash, 'transaction hash'),
    from: address(item.from, 'sender'),
    to: item.to == null ? undefined : address(item.to, 'recipient'),
    valueAtomic: quantity(item.value, 'value'),
    nonce: integer(item.nonce, 'nonce'),
  }))
  if (new Set(transactions.map((item) => item.hash)).size < transactions.length) {
    throw new RpcUnreachable("the node's block holds a transaction twice")
  }
  return transactions
}

async function readTransfers(
  rpc: Rpc,
  raw: RawBlock,
  ref: BlockRef,
  transactions: readonly ChainTransaction[],
  tokens: readonly Address[],
): Promise<TransferLog[]> {
  if (tokens.length === 0) return []
  const filter = { blockHash: ref.hash, address: tokens, topics: [transferTopic] }
  const given = await rpc.call<RawLog[]>('eth_getLogs', [filter])
  if (!Array.isArray(given)) throw new RpcUnreachable("the node's logs are not a list")
  // A node that indexes logs late answers "none" for a block it has; the block itself knows better.
  const doubted =
    given.length === 0 && tokens.some((token) => bloomMayHold(raw.logsBloom, token, transferTopic))
  const logs = doubted ? await logsOfReceipts(rpc, ref.hash, tokens) : given
  const known = new Set(transactions.map((item) => item.hash))
  const listed = new Set(tokens)
  const seen = new Set<number>()
  return logs.map((log) => {
    const transfer = transferOf(log)
    if (
      hash(log.blockHash, 'log block') !== ref.hash ||
      !known.has(transfer.txHash) ||
      !listed.has(transfer.token) ||
      seen.has(transfer.logIndex)
    ) {
      throw new RpcUnreachable(`the logs of block ${ref.hash} do not belong to it`)
    }
    seen.add(transfer.logIndex)
    return transfer
  })
}

async function logsOfReceipts(rpc: Rpc, blockHash: Hex, tokens: readonly Address[]): Promise<RawLog[]> {
  const receipts = await rpc.call<{ logs: RawLog[] }[] | null>('eth_getBlockReceipts', [blockHash])
  if (!Array.isArray(receipts)) throw new RpcUnreachable(`the node has no receipts of block ${blockHash}`)
  return receipts
    .flatMap((receipt) => (Array.isArray(receipt?.logs) ? receipt.logs : []))
    .filter(
      (log) =>
        Array.isArray(log?.topics) &&
        log.topics[0] === transferTopic &&
        tokens.includes(address(log.address, 'log address')),
    )
}

function transferOf(log: RawLog): TransferLog {
  const topics = Array.isArray(log?.topics) ? log.topics : []
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
