import type { Hex } from '#lib/hex'
import type { Address, BlockHash } from '../../addresses/types.ts'
import type { Block, BlockRef, ChainLog, ChainTransaction, TransferLog } from '../../facets/blocks.ts'
import { nativeContract, tokenAddress } from '../../network.ts'
import type { Network } from '../../networks/index.ts'
import { isBundle } from '../accounts/bundle-calls.ts'
import { address, bytes, hash, quantity, readInteger, toQuantity } from '../rpc/quantities.ts'
import { NodeUnreachable, type Rpc, RpcError } from '../rpc/rpc.ts'
import { nativeLogAddress, transferTopic } from './claimed-transfers.ts'
import { contentHashOf, withoutUnsharedLogs } from './contents.ts'
import { readLogs } from './logs.ts'
import { type BlockReceipts, readBlockReceipts } from './receipts.ts'

type RawBlock = {
  number: unknown
  hash: unknown
  parentHash: unknown
  timestamp: unknown
  logsBloom?: unknown
  transactionsRoot?: unknown
  transactions: unknown
}
type RawTransaction = {
  hash: unknown
  from: unknown
  to: unknown
  value: unknown
  input?: unknown
  nonce: unknown
  blockHash: unknown
  blockNumber: unknown
  transactionIndex: unknown
  chainId?: unknown
}

/** A block with the receipts that its logs were read from, if they were. */
export type WholeBlock = { block: Block; receipts: BlockReceipts['byHash'] | undefined }

/** The newest block. Also checks the chain id: a URL that now leads to another chain must not be followed. */
export async function readHead(rpc: Rpc, chainId: number): Promise<BlockRef> {
  const [id, raw] = await rpc.batch<unknown>([
    { method: 'eth_chainId', params: [] },
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
  ])
  for (const answer of [id, raw]) if (answer instanceof RpcError) throw answer
  const given = readInteger(id, 'chain id')
  if (given !== chainId)
    throw new NodeUnreachable(`${rpc.host} is a node of chain ${given}, not of ${chainId}`)
  if (!raw) throw new NodeUnreachable('the node has no latest block')
  return blockRefOf(raw as RawBlock)
}

/** The hash of the block at a height; `undefined` when the node does not have it. */
export async function readHashAt(rpc: Rpc, number: number): Promise<BlockHash | undefined> {
  const raw = await rpc.call<RawBlock | null>('eth_getBlockByNumber', [toQuantity(number), false])
  if (!raw) return undefined
  const ref = blockRefOf(raw)
  if (ref.number === number) return ref.hash
  throw new NodeUnreachable(`the node gave block ${ref.number} ${ref.hash} where ${number} was asked for`)
}

export type BlockKey = { number: number } | { hash: BlockHash }

/**
 * The block with the logs of all contracts. All parts are requested by the block's hash, so that a lagging node cannot answer
 * with "none", and are checked against each other.
 */
export async function readBlock(
  rpc: Rpc,
  { network, local }: { network: Network; local: boolean },
  key: BlockKey,
): Promise<WholeBlock | undefined> {
  const [method, param] =
    'hash' in key
      ? (['eth_getBlockByHash', key.hash] as const)
      : (['eth_getBlockByNumber', toQuantity(key.number)] as const)
  const raw = await rpc.call<RawBlock | null>(method, [param, true])
  if (!raw) return undefined
  const ref = blockRefOf(raw)
  if ('hash' in key ? ref.hash !== key.hash : ref.number !== key.number)
    throw new NodeUnreachable(`the node gave block ${ref.number} ${ref.hash} where ${param} was asked for`)
  const transactions = transactionsOf(raw, ref, network.chainId)
  if (transactions.length === 0 && saysItIsNotEmpty(raw))
    throw new NodeUnreachable(`the node left out the transactions of block ${ref.hash}`)
  // An empty block has no receipts; asking would cost a request for each idle block.
  if (transactions.length === 0)
    return wholeOf({ ...ref, transactions, logs: [], transfers: [] }, new Map(), local)
  const emitters = emittersOf(network)
  const header = { ...ref, logsBloom: raw.logsBloom }
  const sought = { emitters, topic: transferTopic } as const
  const read = local ? readLogs : readBlockReceipts
  const { byHash, logs } = await read(rpc, header, transactions, sought)
  const listed = new Set<string>(emitters)
  const transfers = logs.filter((log) => listed.has(log.address)).flatMap(transferOf)
  return wholeOf({ ...ref, transactions, logs, transfers }, byHash, local)
}

/** The addresses whose logs tell of listed coins. Where a contract moves native coins, logs tell of them, whichever way they move. */
const emittersOf = (network: Network): Hex[] => [
  ...network.tokens.map((token) => tokenAddress(token) as Hex),
  ...(nativeContract(network) === undefined ? [] : ([nativeLogAddress] as const)),
]

const wholeOf = (block: Block, receipts: WholeBlock['receipts'], local: boolean): WholeBlock =>
  local || !receipts ? { block, receipts } : { block: sharedContents(block, receipts), receipts }

function sharedContents(whole: Block, receipts: BlockReceipts['byHash']): Block {
  const block = withoutUnsharedLogs(whole)
  return { ...block, contentHash: contentHashOf(block, receipts) }
}

/** The root of a tree without leaves. */
const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

const saysItIsNotEmpty = ({ transactionsRoot }: RawBlock) =>
  typeof transactionsRoot === 'string' && transactionsRoot.toLowerCase() !== emptyRoot

export function blockRefOf(raw: Pick<RawBlock, 'number' | 'hash' | 'parentHash' | 'timestamp'>): BlockRef {
  return {
    number: readInteger(raw.number, 'block number'),
    hash: hash(raw.hash, 'block hash'),
    parentHash: hash(raw.parentHash, 'parent hash'),
    timeMs: readInteger(raw.timestamp, 'block time') * 1000,
  }
}

function transactionsOf(raw: RawBlock, ref: BlockRef, chainId: number): ChainTransaction[] {
  if (!Array.isArray(raw.transactions)) throw new NodeUnreachable("the node's block has no transactions")
  const transactions = (raw.transactions as RawTransaction[]).map((item, index) => {
    checkPlace(item, index, ref, chainId)
    const to = item.to == null ? undefined : address(item.to, 'recipient')
    const from = address(item.from, 'sender')
    return {
      hash: hash(item.hash, 'transaction hash'),
      from,
      to,
      valueAtomic: quantity(item.value, 'value'),
      nonce: readInteger(item.nonce, 'nonce'),
      ...(isBundle(from, to, item.input) && { bundle: bytes(item.input, 'input') }),
    }
  })
  if (new Set(transactions.map((item) => item.hash)).size < transactions.length) {
    throw new NodeUnreachable("the node's block holds a transaction twice")
  }
  return transactions
}

function checkPlace(item: RawTransaction, index: number, ref: BlockRef, chainId: number): void {
  const fits =
    hash(item?.blockHash, 'block of a transaction') === ref.hash &&
    readInteger(item.blockNumber, 'block number of a transaction') === ref.number &&
    readInteger(item.transactionIndex, 'transaction index') === index &&
    // Old transactions name no chain, and neither do those that a rollup creates itself.
    (item.chainId == null ||
      item.chainId === '0x0' ||
      readInteger(item.chainId, 'chain id of a transaction') === chainId)
  if (!fits) throw new NodeUnreachable(`a transaction of block ${ref.hash} does not belong to it`)
}

/** Parses a transfer log; other events give none. A transfer that breaks the standard is not trusted. */
function transferOf({ address: emitter, topics, data, logIndex, txHash }: ChainLog): TransferLog[] {
  if (topics[0] !== transferTopic) return []
  if (topics.length !== 3) throw new NodeUnreachable('a transfer has other topics than it should')
  const amountAtomic = quantity(data, 'transferred amount')
  const moved = { txHash, logIndex, from: addressOf(topics[1]!), to: addressOf(topics[2]!), amountAtomic }
  return [emitter === nativeLogAddress ? moved : { ...moved, token: emitter }]
}

const addressOf = (topic: Hex): Address => `0x${topic.slice(26)}`
