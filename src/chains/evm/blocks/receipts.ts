/**
 * Reads and checks the receipts of a block: all at once, each against its transaction and its block, with logs that are
 * numbered without a gap and account for the bloom filters. A mismatch comes from a mix of nodes, caches or forks.
 */
import type { Hex } from '#lib/hex'
import type { BlockHash, TxId } from '../../addresses/types.ts'
import type { BlockRef, ChainLog, ChainTransaction } from '../../facets/blocks.ts'
import type { Receipt } from '../../facets/effects.ts'
import { address, bytes, hash, quantity, readInteger } from '../rpc/quantities.ts'
import { NodeUnreachable, type Rpc, RpcError } from '../rpc/rpc.ts'
import { bloomMayHold, bloomOf, bloomValue } from './bloom.ts'

export type RawReceipt = {
  transactionHash: unknown
  transactionIndex: unknown
  blockHash: unknown
  blockNumber: unknown
  from: unknown
  to: unknown
  status: unknown
  gasUsed: unknown
  cumulativeGasUsed?: unknown
  effectiveGasPrice: unknown
  type?: unknown
  logs: unknown
  logsBloom?: unknown
  /** Fee of a rollup for posting the transaction to its parent chain. */
  l1Fee?: unknown
}

export type BlockReceipts = { byHash: ReadonlyMap<TxId, RawReceipt>; logs: ChainLog[] }

/** The header fields of a block that its receipts are checked against. */
export type Header = BlockRef & { logsBloom: unknown }

/** Logs of the chain's own actions that matter: a receipt of one that may hold them must account for all of its logs. */
export type Sought = { emitters: readonly Hex[]; topic: Hex }

/** Old nodes lack it, and return only one receipt at a time. */
const ofBlock = 'eth_getBlockReceipts'
const batchMax = 100
export const zeroAddress = `0x${'0'.repeat(40)}`

/** The receipts of all transactions of a block. */
export async function readBlockReceipts(
  rpc: Rpc,
  header: Header,
  transactions: readonly ChainTransaction[],
  sought: Sought,
): Promise<BlockReceipts> {
  const raws = await rawReceipts(rpc, header.hash, transactions)
  const byHash = new Map<TxId, RawReceipt>(
    raws.map((raw) => [hash(raw?.transactionHash, 'receipt transaction'), raw]),
  )
  const logs: ChainLog[] = []
  let explained = 0n
  transactions.forEach((transaction, index) => {
    const raw = byHash.get(transaction.hash)
    // Some clients have no receipt of the chain's own transactions, which are sent from the zero address.
    if (!raw && transaction.from === zeroAddress) return
    if (!raw) throw doubt(header, `has no receipt of ${transaction.hash}`)
    checkReceipt(raw, header, transaction, index)
    logs.push(...logsOf(raw, header, transaction, index, logs.length))
    checkFilter(raw, logs, transaction, header, sought)
    explained |= bloomValue(raw.logsBloom) ?? 0n
  })
  if (byHash.size > transactions.length || raws.length !== byHash.size)
    throw doubt(header, 'has receipts of no transaction')
  const filter = bloomValue(header.logsBloom) ?? 0n
  if ((filter & ~explained) !== 0n) throw doubt(header, 'has logs that no receipt shows')
  return { byHash: new Map([...byHash].map(([txHash, raw]) => [txHash, slim(raw)])), logs }
}

/** Drops the logs, most of the size and already read: receipts are kept for a while. */
const slim = ({ logs, logsBloom, ...raw }: RawReceipt): RawReceipt => ({ ...raw, logs: [] })

const doubt = (header: BlockRef, what: string) => new NodeUnreachable(`block ${header.hash} ${what}`)

async function rawReceipts(
  rpc: Rpc,
  blockHash: BlockHash,
  transactions: readonly ChainTransaction[],
): Promise<RawReceipt[]> {
  if (!rpc.lacking.has(ofBlock)) {
    try {
      const raws = await rpc.call<RawReceipt[] | null>(ofBlock, [blockHash])
      if (Array.isArray(raws)) return raws
      throw new NodeUnreachable(`the node has no receipts of block ${blockHash}`)
    } catch (error) {
      if (!isUnknownMethod(error)) throw error
      rpc.lacking.add(ofBlock)
    }
  }
  // Receipts requested one by one cannot show that the node omitted a transaction.
  const count = await rpc.call('eth_getBlockTransactionCountByHash', [blockHash])
  if (readInteger(count, 'transaction count') !== transactions.length)
    throw new NodeUnreachable(`block ${blockHash} has another number of transactions than the node listed`)
  const raws: RawReceipt[] = []
  for (let at = 0; at < transactions.length; at += batchMax)
    raws.push(
      ...(await ofEach(
        rpc,
        transactions.slice(at, at + batchMax).map((item) => item.hash),
      )),
    )
  return raws
}

const isUnknownMethod = (error: unknown) =>
  error instanceof RpcError &&
  (error.rpcCode === -32601 || /method.*not (found|supported|available|exist)/i.test(error.message))

function checkReceipt(
  raw: RawReceipt,
  { hash: blockHash, number }: BlockRef,
  { from, to }: ChainTransaction,
  index: number,
): void {
  const fits =
    hash(raw.blockHash, 'receipt block') === blockHash &&
    readInteger(raw.blockNumber, 'receipt block number') === number &&
    readInteger(raw.transactionIndex, 'receipt index') === index &&
    address(raw.from, 'receipt sender') === from &&
    (raw.to == null ? undefined : address(raw.to, 'receipt recipient')) === to &&
    (raw.cumulativeGasUsed == null ||
      quantity(raw.gasUsed, 'gas used') <= quantity(raw.cumulativeGasUsed, 'gas used so far'))
  if (!fits) throw new NodeUnreachable(`a receipt of block ${blockHash} does not fit its transaction`)
}

/** Logs are numbered through the block, from `first` on in this receipt. */
function logsOf(
  raw: RawReceipt,
  { hash: blockHash, number }: BlockRef,
  { hash: txHash }: ChainTransaction,
  index: number,
  first: number,
): ChainLog[] {
  if (!Array.isArray(raw.logs)) throw new NodeUnreachable("the node's receipt has no logs")
  if (raw.logs.length > 0 && quantity(raw.status, 'receipt status') !== 1n)
    throw new NodeUnreachable(`the failed transaction ${txHash} has logs`)
  return (raw.logs as Record<string, unknown>[]).map((log, place) => {
    const logIndex = readInteger(log?.['logIndex'], 'log index')
    const fits =
      hash(log['blockHash'], 'log block') === blockHash &&
      readInteger(log['blockNumber'], 'log block number') === number &&
      hash(log['transactionHash'], 'log transaction') === txHash &&
      readInteger(log['transactionIndex'], 'log transaction index') === index &&
      log['removed'] !== true &&
      logIndex === first + place
    if (!fits) throw new NodeUnreachable(`the logs of block ${blockHash} do not belong to it`)
    return logFrom(log, logIndex, txHash)
  })
}

/** Maximum number of topics that a contract can give a log. */
const topicsMax = 4

/** A log whose place in the block was checked. */
export function logFrom(
  { address: emitter, topics, data }: Record<string, unknown>,
  logIndex: number,
  txHash: TxId,
): ChainLog {
  if (!Array.isArray(topics) || topics.length > topicsMax)
    throw new NodeUnreachable("the node's log has no list of topics")
  return {
    address: address(emitter, 'log address'),
    topics: topics.map((topic) => hash(topic, 'topic')),
    data: bytes(data, 'log data'),
    logIndex,
    txHash,
  }
}

/**
 * Compares the logs of a receipt with its filter. Clients differ in the receipts of the chain's own actions, which are sent
 * from the zero address: those are compared only when they may hold a sought log.
 */
function checkFilter(
  raw: RawReceipt,
  logs: readonly ChainLog[],
  { hash: txHash, from }: ChainTransaction,
  header: BlockRef,
  { emitters, topic }: Sought,
): void {
  const filter = bloomValue(raw.logsBloom)
  if (filter === undefined) return
  const own = logs.slice(logs.length - (raw.logs as unknown[]).length)
  const matters =
    from !== zeroAddress ||
    own.some((log) => emitters.includes(log.address as Hex)) ||
    emitters.some((emitter) => bloomMayHold(raw.logsBloom, emitter, topic))
  if (matters && bloomOf(own) !== filter)
    throw doubt(header, `has other logs of ${txHash} than its filter says`)
}

/** From this number on, one request for the whole block's receipts is cheaper than one call each. */
const wholeBlockFrom = 20

/** Receipts of `txHashes`, and perhaps of other transactions of the block. */
export async function readReceipts(
  rpc: Rpc,
  blockHash: BlockHash,
  txHashes: readonly TxId[],
): Promise<BlockReceipts['byHash']> {
  if (txHashes.length === 0) return new Map()
  const raws =
    txHashes.length >= wholeBlockFrom
      ? await rpc.call<RawReceipt[]>(ofBlock, [blockHash])
      : await ofEach(rpc, txHashes)
  if (!Array.isArray(raws)) throw new NodeUnreachable(`the node has no receipts of block ${blockHash}`)
  return new Map(raws.map((raw) => [hash(raw?.transactionHash, 'receipt transaction'), slim(raw)]))
}

/** The parsed receipts of `txHashes`, each of which must be in the block; throws `NodeUnreachable` otherwise. */
export function receiptsFrom(
  byHash: ReadonlyMap<TxId, RawReceipt>,
  blockHash: BlockHash,
  txHashes: readonly TxId[],
): Receipt[] {
  return txHashes.map((txHash) => {
    const raw = byHash.get(txHash)
    const receipt = raw && receiptOf(raw)
    if (!receipt || receipt.blockHash !== blockHash)
      throw new NodeUnreachable(`the receipts of block ${blockHash} are incomplete or of another block`)
    return receipt
  })
}

async function ofEach(rpc: Rpc, txHashes: readonly TxId[]): Promise<RawReceipt[]> {
  const calls = txHashes.map((txHash) => ({ method: 'eth_getTransactionReceipt', params: [txHash] }))
  const answers = await rpc.batch<RawReceipt | null>(calls)
  return answers.filter((answer): answer is RawReceipt => answer !== null && !(answer instanceof RpcError))
}

function receiptOf(raw: RawReceipt): Receipt {
  const gasUsed = quantity(raw.gasUsed, 'gas used')
  const status = quantity(raw.status, 'receipt status')
  if (status > 1n) throw new NodeUnreachable("the node's receipt status is neither 0 nor 1")
  const l1Fee = raw.l1Fee == null ? 0n : quantity(raw.l1Fee, 'parent chain fee')
  return {
    txHash: hash(raw.transactionHash, 'receipt transaction'),
    blockHash: hash(raw.blockHash, 'receipt block'),
    blockNumber: readInteger(raw.blockNumber, 'receipt block number'),
    success: status === 1n,
    gasUsed,
    feeAtomic: gasUsed * quantity(raw.effectiveGasPrice, 'gas price') + l1Fee,
  }
}
